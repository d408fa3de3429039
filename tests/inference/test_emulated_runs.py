"""Runs of forward models whose outputs are emulated: kept, given, failed, and counted."""

import json
import math
import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import BudgetSpent, ParameterError, StoreError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.lines import in_order, written
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.resuming import confirm
from rnshmc.inference.exact.stored_evaluations import read_all, read_known
from rnshmc.inference.exact.target import make_posterior
from rnshmc.inference.transforms import make_transform, with_prior
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.model_cases import DATA, NAMES, TIMES, Counted, decay, decaying, sampled

LATER = 2.3 * np.exp(-1.2 * TIMES) + np.random.default_rng(8).normal(0.0, 0.1, 12)
LATER[-1] = math.nan


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a call with the first data."""
    path = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    sampled(decaying(), filepath=path)
    return path


def test_new_data_cost_no_run(kept: Path) -> None:
    forward = Counted(decay)
    result = sampled(decaying(LATER, forward), (0.1, 0.2, 0.4), evaluations=kept, budget=0)
    assert result.verdict.level == "good", str(result.verdict)
    assert re.search(r"at \d+ stored runs, each left out in turn; none was made at draws", str(result.verdict))
    assert result.spent.units == len(forward.asked) == 0
    cold = sampled(decaying(LATER), seed=2)
    for found, other in ((result.mean, cold.mean), (result.sd, cold.sd)):
        error = np.hypot(found.standard_error, other.standard_error)
        assert (np.abs(found.value - other.value) < z_bound(6) * error).all()


def test_new_data_cost_a_few_runs_that_check(kept: Path) -> None:
    forward = Counted(decay)
    result = sampled(decaying(LATER, forward), (0.1, 0.2, 0.4), evaluations=kept)
    assert result.verdict.level == "good", str(result.verdict)
    assert result.spent.units == len(forward.asked) <= 20
    stored = {one.point[:2].tobytes() for one in read_all(kept)}
    assert not stored & set(forward.asked)


def test_too_few_runs_give_no_draws(kept: Path) -> None:
    """The posterior of these data is where no run is."""
    far = 8.0 * np.exp(-5.0 * TIMES)
    with pytest.raises(BudgetSpent, match=r"budget: 0 of 0 units are spent.*, before there are draws: "):
        sampled(decaying(far), evaluations=kept, budget=0)


def test_potentials_of_given_runs_are_of_the_data(kept: Path) -> None:
    names, start = ("a", "r", "sigma"), np.array([0.0, 0.0, 0.5])
    posterior = make_posterior(decaying(LATER), None, names)
    forward_posterior = posterior.forward_posterior
    assert forward_posterior is not None
    transform = with_prior(make_transform(None, names), posterior.bounds, {}, names)
    runs = read_known(kept, names, forward_posterior, start)
    workers = make_workers(None, posterior.evaluable, time_limit=None)
    known = Archive.of(Evaluations(workers, transform, known=runs, forward_posterior=forward_posterior)).training()
    points, values = known.points, known.values
    theta = np.array([transform.parameters(point) for point in points])
    rest = np.array([(LATER - decay(x))[:-1] / x[2] for x in theta])
    expected = 0.5 * (rest**2).sum(axis=1) + 0.5 * (theta**2).sum(axis=1)
    np.testing.assert_allclose(values - values[0], expected - expected[0], rtol=1e-9, atol=1e-9)
    assert np.ptp(expected) > 1.0


def test_the_same_call_with_other_data_continues_the_same_file(tmp_path: Path) -> None:
    forward, kept = Counted(decay), tmp_path / "runs.jsonl"
    first = sampled(decaying(forward=forward), filepath=kept)
    repeated = sampled(decaying(forward=forward), filepath=kept)
    assert repeated.spent.units == 1  # a stored run made anew
    np.testing.assert_array_equal(repeated.mean.value, first.mean.value)
    sampled(decaying(DATA + 0.01, forward), filepath=kept)
    assert len(forward.asked) - len(set(forward.asked)) == 2


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    sampled(decaying(), filepath=kept, budget=20)
    with pytest.raises(StoreError, match=r"of another target: at a = .* output \d+ of the model is"):
        sampled(decaying(forward=lambda x: 1.001 * decay(x)), filepath=kept)
    with pytest.raises(StoreError, match="holds runs of a forward model, and this target has log densities"):
        rnshmc.sample(lambda x: -0.5 * float(x @ x), np.zeros(2), names=["a", "r"], filepath=kept, progress_bar=False)


def test_a_table_of_runs_is_a_start() -> None:
    points = np.random.default_rng(5).normal([0.6, 0.0], 0.4, size=(40, 2))
    table = {"points": points, "outputs": np.array([decay(x) for x in points])}
    fewer, cold = sampled(decaying(), evaluations=table), sampled(decaying())
    assert fewer.verdict.level == "good", str(fewer.verdict)
    assert fewer.spent.units < cold.spent.units - 15
    with pytest.raises(ParameterError, match="evaluations: 'outputs' is missing; expected points, outputs"):
        sampled(decaying(), evaluations={"points": points})
    with pytest.raises(ParameterError, match="evaluations, outputs: a run has 11, and there are 12 data"):
        sampled(decaying(), evaluations={**table, "outputs": table["outputs"][:, 1:]})


def test_known_runs_take_the_place_of_starts(kept: Path) -> None:
    """However many starts there are, the search begins at the best run, and tells of one mode."""
    drawn = sampled(decaying(LATER), lambda rng: rng.uniform(0.1, 0.5, 3), evaluations=kept, budget=0)
    assert drawn.spent.units == 0
    rows = sampled(decaying(LATER), [[0.1, 0.2, 0.4], [-1.0, 0.5, 0.3]], evaluations=kept, budget=0)
    for result in (drawn, rows):
        assert "One start found one mode; other modes were not searched for" in " ".join(str(result.verdict).split())


def in_two(first: str, second: str, late: int) -> rnshmc.Model:
    """The data under two names, of times before and after, in one order or the other."""
    parts = {"early": slice(None, late), "late": slice(late, None)}

    def forward(x: Array) -> dict[str, Array]:
        return {name: decay(x)[part] for name, part in parts.items()}

    prior = {"a": ("normal", 0.0, 1.0), "r": ("normal", 0.0, 1.0), "sigma": ("halfnormal", 1.0)}
    data = {name: DATA[parts[name]] for name in (first, second)}
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd="sigma"), prior=prior)


def test_runs_have_outputs_under_the_names_of_the_data(tmp_path: Path) -> None:
    """Whatever their order: six and six would otherwise be taken for each other."""
    path = tmp_path / "runs.jsonl"
    first = sampled(in_two("early", "late", 6), filepath=path, draws=100)
    header = json.loads(path.read_text().splitlines()[0])
    assert [*header["outputs"].items()] == [("early", 6), ("late", 6)]
    forward_posterior = make_posterior(in_two("late", "early", 6), None, NAMES).forward_posterior
    assert forward_posterior is not None
    runs = read_known(path, NAMES, forward_posterior, np.zeros(3))
    assert len(runs) == first.spent.points
    for one in runs:
        assert one.run is not None
        expected = decay(one.point[:2])
        np.testing.assert_array_equal(one.run.outputs, np.concatenate((expected[6:], expected[:6])))
    # Further runs would be in another order.
    told = r"runs\.jsonl holds runs with the outputs early \(6\), late \(6\), and the data are late \(6\), early \(6\);"
    with pytest.raises(StoreError, match=told):
        sampled(in_two("late", "early", 6), filepath=path)
    with pytest.raises(StoreError, match=r"outputs early \(6\), late \(6\); the data are early \(7\), late \(5\)"):
        sampled(in_two("early", "late", 7), evaluations=path)


def test_derivatives_of_runs_follow_their_outputs(tmp_path: Path) -> None:
    numbers = np.arange(3.0)
    run = Run(numbers, jacobian=np.outer(numbers, [1.0, 10.0]), along=-numbers, pulled=np.array([5.0, 6.0]))
    one = Evaluation(np.zeros(2), 0.0, run=run)
    failed = Evaluation(np.ones(2), math.inf, failure="no convergence")
    [there, other] = in_order([one, failed], {"a": 1, "b": 2}, {"b": 2, "a": 1}, tmp_path)
    assert there.run is not None
    for found, expected in (
        (there.run.outputs, [1.0, 2.0, 0.0]),
        (there.run.along, [-1.0, -2.0, 0.0]),
        (there.run.jacobian, np.outer([1.0, 2.0, 0.0], [1.0, 10.0])),
        (there.run.pulled, [5.0, 6.0]),
    ):
        assert found is not None
        np.testing.assert_array_equal(found, expected)
    assert other is failed
    with pytest.raises(StoreError, match=r"does not record the order of its runs' outputs a \(1\), b \(2\)"):
        in_order([one], None, {"a": 1, "b": 2}, tmp_path)
    with pytest.raises(StoreError, match="holds a run with 3 outputs, and there are 2 data"):
        in_order([one], None, {"": 2}, tmp_path)


def test_a_run_without_outputs_does_not_confirm_a_file(tmp_path: Path) -> None:
    whole, none = (Evaluation(np.zeros(1), 0.0, run=Run(np.full(2, fill))) for fill in (1.0, math.nan))
    asked: list[Evaluation] = []

    def again(stored: Evaluation) -> Evaluation:
        asked.append(stored)
        return stored

    with closing(EvaluationLog(tmp_path / "runs.jsonl", ["a"], outputs={"": 2})) as file:
        assert confirm([whole, none], again, file, gradient=False)
        assert not confirm([none], again, file, gradient=False)
    assert asked == [whole]


def test_masked_data_are_missing() -> None:
    masked_array: Any = np.ma.masked_array
    data = masked_array(np.append(DATA[:-1], 9.97e36), np.arange(12) == 11)
    forward_posterior = make_posterior(decaying(data), None, NAMES).forward_posterior
    assert forward_posterior is not None
    np.testing.assert_array_equal(forward_posterior.data[""], np.append(DATA[:-1], math.nan))


def test_failed_runs_are_avoided_and_reported() -> None:
    def fragile(x: Array) -> Array:
        if x[1] > 0.15:
            raise RuntimeError("no convergence")
        return decay(x)

    result = sampled(decaying(forward=fragile))
    assert any("evaluations failed" in f.text and "no convergence" in f.text for f in result.verdict.findings)


@pytest.mark.parametrize("failure", ["raised", "nan", "late"])
def test_a_file_with_runs_that_failed_is_read_again(failure: str, tmp_path: Path) -> None:
    def fragile(x: Array) -> Array:
        if x[1] > 0.15 and failure == "raised":
            raise RuntimeError("no convergence")
        if x[1] > 0.15 and failure == "late":
            time.sleep(60.0)
        return np.where(x[1] > 0.15, math.nan, decay(x))

    settings: dict[str, Any] = {"filepath": tmp_path / "runs.jsonl", "draws": 100}
    if failure == "late":
        for _ in range(2):
            with pytest.raises(BudgetSpent):
                sampled(decaying(forward=fragile), **settings, pool=2, time_limit=0.5, budget=10)
        assert len(read_all(tmp_path / "runs.jsonl")) >= 10
        return
    first = sampled(decaying(forward=fragile), **settings)
    assert any("evaluations failed" in finding.text for finding in first.verdict.findings)
    stored = [one.point for one in read_all(tmp_path / "runs.jsonl")]
    again = sampled(decaying(forward=fragile), **settings)
    new = [one.point for one in read_all(tmp_path / "runs.jsonl")[len(stored) :]]
    assert not new, f"the first new run is {np.abs(np.array(stored) - new[0]).max(axis=1).min()} from a stored one"
    # One run is made again to check that the file is of this model, and three failures, for a model that was mended.
    assert again.spent.points == 4
    np.testing.assert_array_equal(again.draws, first.draws)
    assert again.verdict.level == first.verdict.level
    assert len(stored) >= first.spent.points


def test_failed_runs_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    """They had the parameters of the likelihood, too, and a log density in place of outputs."""
    path = tmp_path / "runs.jsonl"
    lines = (
        {"format": "rnshmc runs 1", "names": ["a", "r"]},
        {"x": [0.1, 0.2, 0.5], "log_density": None, "failure": "it took longer than time_limit = 1 s"},
        {"x": [0.1, 0.2], "outputs": [1.0, None], "jacobian": [[1.0, 2.0], [None, 0.0]]},
    )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    late, whole = read_all(path)
    assert (late.point.tolist(), late.failed, late.run) == ([0.1, 0.2], True, None)
    assert whole.run is not None
    assert np.isnan(whole.run.outputs).tolist() == [False, True]
    assert written(whole, 2, runs=True) == lines[2]


def test_the_same_seed_gives_the_same_result_with_processes() -> None:
    alone, two = sampled(decaying(), seed=5), sampled(decaying(), seed=5, pool=2)
    np.testing.assert_array_equal(alone.draws, two.draws)


def test_a_budget_is_kept_to_the_run() -> None:
    forward = Counted(decay)
    result = sampled(decaying(forward=forward), budget=10, draws=100)
    assert result.spent.units == len(forward.asked) == 10
    assert len(result.draws) == 100
    assert "budget: 10 of 10 units are spent" in str(result.verdict)
    with pytest.raises(BudgetSpent, match="budget: 0 of 0 units are spent, at 0 points"):
        sampled(decaying(), budget=0)
