"""Measurements on chains."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.errors import StoreError
from rnshmc.random import stream
from rnshmc.results.measure import chain_metrics, convergence
from rnshmc.results.metrics import ChainMetrics, read_convergence, read_metrics, write_metrics
from rnshmc.store.chains import StoredChain
from tests.conftest import z_bound

N, D = 400, 3
FIT = {"hidden_units": 1000, "train_residual_sd": 0.1, "cpu_s": 3.5}
M, DISCARD = 100, 30


def stats() -> dict[str, np.ndarray[Any, Any]]:
    alternate = np.arange(N) % 4 != 0
    return {
        "accepted": alternate,
        "diverging": np.arange(N) < 2,
        "solver_failed": np.arange(N) < 3,
        "evaluations": np.tile([1, 2, 3, 8], N // 4),
        "values": np.ones(N, dtype=int),
        "gradients": np.tile([1, 2, 3, 4], N // 4),
        "metrics": np.zeros(N, dtype=int),
        "surrogate_gradients": np.full(N, 5),
        "softened_metrics": np.arange(N) % 100 == 0,
    }


def chain(surrogate: dict[str, Any] | None = None, n_steps: tuple[int, int] = (1, 4)) -> StoredChain:
    rng = stream(1, "metrics")
    phases: dict[str, Any] = {"sample": {"iterations": N, "wall_s": 2.0, "cpu_s": 1.0}}
    return StoredChain(
        draws=1.0 + rng.normal(size=(N, D)),
        stats=stats(),
        settings={
            "problem": "bank",
            "sampler": "hmc",
            "recipe": "hmc",
            "chain": 2,
            "seed": 1,
            "explored": M,
            "settings": {"step_size": 0.1, "n_steps": n_steps},
        },
        phases=phases if surrogate is None else {**phases, "fit": surrogate},
        origin="real",
        provenance={},
        warmup=1.0 + rng.normal(size=(M, D)),
    )


def measure(surrogate: dict[str, Any] | None = None) -> ChainMetrics:
    return chain_metrics(chain(surrogate), reference_mean=np.ones(D), discard=DISCARD)


def test_counts_are_means_over_the_kept_iterations() -> None:
    metrics = measure()
    assert (metrics.values_per_iter, metrics.gradients_per_iter, metrics.metrics_per_iter) == (1.0, 2.5, 0.0)
    assert (metrics.evaluations_per_iter, metrics.surrogate_gradients_per_iter) == (3.5, 5.0)
    assert (metrics.divergences, metrics.solver_failures, metrics.softened_metrics) == (2, 3, 4)
    assert metrics.ap == 0.75


def test_ranges_are_those_of_the_coordinates() -> None:
    metrics = measure()
    assert len(metrics.ess) == D
    assert (metrics.ess_min, metrics.ess_median, metrics.ess_max) == tuple(sorted(metrics.ess))
    assert metrics.ess_max <= N


def test_mean_sd_and_error_are_those_of_independent_draws() -> None:
    metrics = measure()
    assert_allclose(metrics.mean, 1.0, atol=z_bound(2 * D) / np.sqrt(N))
    assert_allclose(metrics.sd, 1.0, atol=z_bound(2 * D) / np.sqrt(2 * N))
    assert_allclose(metrics.mcse_mean, 1 / np.sqrt(N), rtol=0.3)


def test_rem_is_that_of_all_states_since_the_training_set_began() -> None:
    metrics, found = measure(), chain()
    assert found.warmup is not None
    assert (metrics.rem_iteration[0], metrics.rem_iteration[-1]) == (DISCARD + 1, M + N)
    states = np.concatenate([found.warmup[DISCARD:], found.draws])
    for place in (0, 40, -1):
        mean = states[: metrics.rem_iteration[place] - DISCARD].mean(axis=0)
        assert_allclose(metrics.rem[place], np.linalg.norm(mean - 1.0) / np.sqrt(D), rtol=1e-9)
    assert (metrics.explored, metrics.draws) == (M, N)


def test_training_is_that_of_the_surrogate() -> None:
    exact = measure()
    assert (exact.hidden_units, exact.training_draws, exact.fit_s, exact.surrogate) == (None, None, None, None)
    driven = measure(FIT)
    assert (driven.hidden_units, driven.training_draws, driven.fit_s, driven.surrogate) == (1000, M, 3.5, FIT)


def test_effective_draws_are_counted_by_both_definitions() -> None:
    metrics, draws = measure(), chain().draws
    assert metrics.ess_median == np.median(geyer_ess(draws))
    assert metrics.truncated_ess_median == np.median(truncated_ess(draws))
    assert metrics.truncated_ess_min == truncated_ess(draws).min()


@pytest.mark.parametrize(("n_steps", "ap"), [((1, 4), 0.2 + 0.8 * 0.75), ((1, 49), 0.02 + 0.98 * 0.75), ((5, 5), 0.75)])
def test_trajectories_of_no_step_are_accepted_where_they_could_be_drawn(n_steps: tuple[int, int], ap: float) -> None:
    found = chain(n_steps=n_steps)
    metrics = chain_metrics(found, reference_mean=None, discard=DISCARD)
    assert_allclose(metrics.ap_with_empty, ap)
    empty = (ap - 0.75) / 0.25
    assert_allclose(metrics.truncated_ess_with_empty_min, truncated_ess(found.draws, empty=empty).min())


def test_a_problem_without_a_reference_has_no_error_of_the_mean() -> None:
    metrics = chain_metrics(chain(), reference_mean=None, discard=DISCARD)
    assert (metrics.rem_iteration, metrics.rem) == ([], [])


def test_a_coordinate_that_never_moves_has_no_spread() -> None:
    still = replace(chain(), draws=np.full((N, D), 0.1))
    metrics = chain_metrics(still, reference_mean=None, discard=DISCARD)
    assert metrics.sd == [0.0] * D
    assert convergence([still, still]).rhat_max is None


def test_convergence_takes_all_chains_of_a_sampler_together() -> None:
    first = chain()
    apart = replace(first, draws=first.draws + np.array([3.0, 0.0, 0.0]))
    found = convergence([first, apart])
    assert (found.problem, found.sampler) == ("bank", "hmc")
    assert found.rhat_max is not None
    assert found.rhat_max > 1.5
    assert found.ess_bulk_min < 100
    assert convergence([first]).rhat_max is None


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    metrics, diagnosed = measure(FIT), convergence([chain()])
    paths = [tmp_path / "bank.json", tmp_path / "pde.json"]
    write_metrics(paths[0], [metrics, measure()], [diagnosed])
    write_metrics(paths[1], [measure()], [])
    assert read_metrics(paths) == [metrics, measure(), measure()]
    assert read_convergence(paths) == [diagnosed]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot read"),
        ("[]", "cannot read"),
        ('{"chains": [{"problem": "bank", "tempo": 1}]}', r"keys: .*ap, .*tempo"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "hmc.json"
    path.write_text(content)
    with pytest.raises(StoreError, match=rf"hmc\.json.*{message}"):
        read_metrics([path])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"gp_hmc\.json"):
        read_metrics([tmp_path / "gp_hmc.json"])
