"""Draws of `rnshmc.sample` as a chain: all exact evaluations are counted, as for other samplers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import StoreError
from rnshmc.inference import modes
from rnshmc.inference.call import sample
from rnshmc.inference.exact.stored_evaluations import read_known
from rnshmc.inference.result.result import Result
from rnshmc.inference.result.state import State, States
from rnshmc.results.measure import chain_metrics
from rnshmc.results.metrics import ChainMetrics
from rnshmc.store.account import Account, markov_chains
from rnshmc.store.automatic import automatic_chain
from rnshmc.store.chains import StoredChain, read_chain, write_chain
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array
from tests.inference.problems import two_modes

DRAWS = 100


class Counting(Gaussian):
    """A Gaussian that counts its evaluations; by its digest, a file is known to be of it."""

    digest = "counting"

    def __init__(self) -> None:
        super().__init__(np.zeros(2), np.diag([1.0, 4.0]))
        self.values = self.gradients = 0

    def value(self, q: Array) -> float:
        self.values += 1
        return super().value_and_grad(q)[0]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        self.values += 1
        self.gradients += 1
        return super().value_and_grad(q)


Measured = tuple[ChainMetrics, Counting, Result]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Metrics of a chain that was written and read, from a run that ended and went on."""
    folder, target = tmp_path_factory.mktemp("auto"), Counting()
    file = folder / "evaluations.jsonl"
    sample(target, np.ones(2), draws=DRAWS // 2, filepath=file, progress_bar=False)
    result = sample(target, np.ones(2), draws=DRAWS, filepath=file, progress_bar=False)
    chain = automatic_chain(
        result,
        read_known(file, result.names),
        settings={"problem": "mine", "sampler": "auto", "chain": 1},
        cost={"wall_s": 1.0, "cpu_s": 1.0, "other_cores": 0.0},
        origin="user",
        provenance={},
    )
    write_chain(folder / "chain1.nc", chain)
    return chain_metrics(read_chain(folder / "chain1.nc"), reference_mean=None, discard=0), target, result


def test_every_evaluation_of_every_start_is_counted(measured: Measured) -> None:
    metrics, target, _ = measured
    # Two values checked the gradient of each call at its start, and are counted as well.
    assert metrics.values_per_iter * DRAWS == pytest.approx(target.values, rel=1e-12)
    assert metrics.gradients_per_iter * DRAWS == pytest.approx(target.gradients, rel=1e-12)
    assert metrics.evaluations_per_iter == metrics.values_per_iter
    assert 0 < target.gradients < target.values


class Valued:
    """A Gaussian without its gradient."""

    dim = 2

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ q)


def test_a_model_without_gradient_took_none(tmp_path: Path) -> None:
    file = tmp_path / "evaluations.jsonl"
    result = sample(Valued(), np.ones(2), draws=20, filepath=file, progress_bar=False)
    known = read_known(file, result.names)
    chain = automatic_chain(
        result, known, settings={"sampler": "auto"}, cost={"wall_s": 1.0}, origin="user", provenance={}
    )
    assert chain.stats["values"].sum() == len(known) == result.spent.values
    assert chain.stats["gradients"].sum() == 0


def test_it_has_the_acceptance_of_the_exact_steps(measured: Measured) -> None:
    metrics, _, result = measured
    assert 0.0 < metrics.ap <= 1.0
    assert metrics.ap == pytest.approx(result.outcome.acceptance, rel=1e-12)
    assert (metrics.draws, metrics.explored, metrics.sampler, metrics.recipe) == (DRAWS, 0, "auto", "auto")


def stored(result: Result, path: Path) -> StoredChain:
    """A result as a chain that was written and read."""
    settings = {"problem": "mine", "sampler": "auto", "chain": 1}
    cost = {"wall_s": 1.0, "cpu_s": 1.0, "other_cores": 0.0}
    write_chain(path, automatic_chain(result, (), settings=settings, cost=cost, origin="user", provenance={}))
    return read_chain(path)


def test_what_it_said_stays_with_the_draws(tmp_path: Path) -> None:
    result = sample(Gaussian(np.zeros(2), np.eye(2)), np.ones(2), draws=20, progress_bar=False)
    chain = stored(result, tmp_path / "chain1.nc")
    account = Account.of(chain)
    assert account is not None
    assert (account.said, account.verdict, account.draws) == (str(result), result.verdict.level, 20)
    np.testing.assert_array_equal(chain.draws, result.draws)


def test_draws_of_a_surrogate_are_no_chain_and_have_its_precision(measured: Measured, tmp_path: Path) -> None:
    metrics, _, result = measured
    assert result.outcome.surrogate is not None
    assert markov_chains(stored(result, tmp_path / "chain1.nc")).shape == (0, 0, 2)
    expected = (result.sd.value / result.mean.standard_error) ** 2
    np.testing.assert_allclose(metrics.ess, expected, rtol=1e-12)
    assert (metrics.ess_min, metrics.ess_max) == (min(metrics.ess), max(metrics.ess))
    np.testing.assert_array_equal(metrics.mean, result.mean.value)
    np.testing.assert_array_equal(metrics.mcse_mean, result.mean.standard_error)
    np.testing.assert_array_equal(metrics.sd, result.sd.value)
    np.testing.assert_array_equal(metrics.mcse_sd, result.sd.standard_error)


def test_without_a_surrogate_its_chains_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(state: State) -> States:
        yield from ()
        return state

    monkeypatch.setattr(modes, "attempts", none)
    result = sample(two_modes(), [[-6.0, 0.0], [6.0, 0.0]], draws=90, progress_bar=False)
    assert result.outcome.surrogate is None
    chain = stored(result, tmp_path / "chain1.nc")
    np.testing.assert_array_equal(markov_chains(chain), result.chains)
    metrics = chain_metrics(chain, reference_mean=None, discard=0)
    assert (metrics.draws, len(chain.draws)) == (90, 120)


def test_a_result_without_draws_is_not_stored(measured: Measured, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="auto: no draws to store"):
        stored(replace(measured[2], draws=np.empty((0, 2))), tmp_path / "chain1.nc")
