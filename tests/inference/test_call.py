"""`rnshmc.sample` from outside: interrupted, killed, resumed, out of budget, in the user's coordinates."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import arviz
import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Progress
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import interrupted

SCALES = np.array([1.0, 0.1, 5.0])
LARGEST = 0.2
"""Bound on standard errors, in standard deviations: those of 25 independent draws, where runs aim at 100 and more."""


def posterior(x: Array) -> tuple[float, Array]:
    z = x / SCALES
    return float(-0.5 * z @ z - 0.05 * (z**4).sum()), -(z + 0.2 * z**3) / SCALES


def run(**settings: Any) -> rnshmc.Result:
    return rnshmc.sample(posterior, 0.5 * SCALES, **{"draws": 200, **settings})


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    return run(names=["a", "b", "c"], units={"c": "m"})


def test_the_result_is_of_the_posterior(result: rnshmc.Result) -> None:
    bound = z_bound(4)
    assert (np.abs(result.mean.value) < bound * result.mean.standard_error).all()
    assert (result.mean.standard_error < LARGEST * SCALES).all()
    # Its second moments, by quadrature.
    grid = np.linspace(-8, 8, 4001)
    density = np.exp(-0.5 * grid**2 - 0.05 * grid**4)
    sd = SCALES * np.sqrt((grid**2 * density).sum() / density.sum())
    assert (np.abs(result.sd.value - sd) < bound * result.sd.standard_error).all()
    assert (result.sd.standard_error < LARGEST * sd).all()
    third = result.expectation(lambda x: (x / SCALES)[:, 0] ** 2)
    assert abs(float(third.value) - (sd[0] / SCALES[0]) ** 2) < bound * float(third.standard_error)
    assert float(third.standard_error) < 2 * LARGEST * (sd[0] / SCALES[0]) ** 2


def test_names_and_units_go_through_to_arviz_and_its_files(result: rnshmc.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "result.nc")
    data = arviz.from_netcdf(tmp_path / "result.nc")
    assert list(data.posterior.data_vars) == ["a", "b", "c"]
    assert data.posterior["c"].attrs["units"] == "m"
    assert data.posterior.attrs["values"] == result.spent.values
    draws = np.stack([data.posterior[name].to_numpy() for name in "abc"], axis=-1)
    assert draws.shape == (4, 50, 3)
    assert np.array_equal(np.sort(draws.reshape(-1, 3), axis=0), np.sort(result.draws, axis=0))
    assert np.array_equal(data.exact["b"].to_numpy(), result.chains[:, :, 1])
    expected = [[posterior(x)[0] for x in chain] for chain in result.chains]
    # U is exact at the draws; the mode's value was added and taken away.
    np.testing.assert_allclose(data.exact["lp"].to_numpy(), expected, rtol=0, atol=1e-12)


def test_there_are_as_many_draws_as_were_asked_for(result: rnshmc.Result) -> None:
    assert result.draws.shape == (200, 3)
    assert "200 draws from the surrogate, corrected" in repr(result)
    assert "draws from 4 exact Metropolis chains" in repr(result)


def test_the_text_has_parameters_costs_and_verdict(result: rnshmc.Result) -> None:
    text = repr(result)
    values, gradients = result.spent.values, result.spent.gradients
    line = f"evaluated {values} points, {values + gradients} units: {values} values, {gradients} gradients"
    assert line in text.splitlines()
    assert "sd(U - V) = " in text
    assert any(line.startswith("c ") and line.endswith(" m") for line in text.splitlines())


def test_the_same_seed_gives_the_same_result_with_any_pool(result: rnshmc.Result) -> None:
    for pool in (None, 2):
        again = run(pool=pool)
        assert again.chains.tobytes() == result.chains.tobytes()
        assert again.spent == result.spent
    assert run(seed=2).chains.tobytes() != result.chains.tobytes()


def test_parameters_with_bounds_are_sampled_inside_them() -> None:
    def gamma(x: Array) -> tuple[float, Array]:
        assert (x > 0).all()
        return float((2 * np.log(x) - x).sum()), 2 / x - 1

    found = rnshmc.sample(gamma, np.ones(2), bounds=["positive"] * 2, draws=400)
    assert (np.abs(found.mean.value - 3) < z_bound(4) * found.mean.standard_error).all()
    assert (np.abs(found.sd.value - np.sqrt(3)) < z_bound(4) * found.sd.standard_error).all()
    assert (found.mean.standard_error < LARGEST * np.sqrt(3)).all()
    assert (found.sd.standard_error < LARGEST * np.sqrt(3)).all()
    assert (found.draws > 0).all()


def test_callbacks_are_told_of_stages_and_costs() -> None:
    reported: list[Progress] = []
    found = run(callback=reported.append)
    assert reported[-1].spent == found.spent
    assert len({progress.stage for progress in reported}) > 2
    units = [progress.spent.units for progress in reported]
    assert units == sorted(units)


def test_the_budget_ends_a_run_with_what_there_is() -> None:
    found = run(budget=40)
    assert found.spent.units <= 40
    assert len(found.draws) > 0
    assert "of 40 units are spent" in repr(found)


@pytest.mark.parametrize("budget", [0, 3, 10, 20])
def test_a_budget_that_suffices_for_no_draws_is_an_error(budget: int) -> None:
    with pytest.raises(rnshmc.BudgetSpent, match=rf"budget: \d+ of {budget} units are spent"):
        run(budget=budget)
    with pytest.raises(rnshmc.BudgetSpent, match=rf"budget: \d+ of {budget} units are spent"):
        rnshmc.sample(lambda x: posterior(x)[0], 0.5 * SCALES, budget=budget, progress_bar=False)


def test_expectations_ask_a_function_for_no_empty_rows() -> None:
    """Of a run whose budget ended before a draw was checked: `np.stack` takes no list without entries."""
    found = run(budget=40)
    assert found.outcome.surrogate is not None
    assert len(found.outcome.surrogate.checked) == 0
    mean = found.expectation(lambda draws: np.stack([[row.sum(), row.max()] for row in draws]))
    assert np.isfinite(mean.value).all()


def test_ctrl_c_ends_a_run_with_what_there_is() -> None:
    found = rnshmc.sample(interrupted(posterior, after=13), 0.5 * SCALES, draws=200)
    assert found.spent.values == 13
    assert "it was interrupted" in repr(found)


def test_one_exception_at_one_evaluation_does_not_lose_the_run() -> None:
    count = 0

    def moody(x: Array) -> tuple[float, Array]:
        nonlocal count
        count += 1
        if count % 7 == 0:
            raise RuntimeError("no convergence")
        return posterior(x)

    found = rnshmc.sample(moody, 0.5 * SCALES, draws=100)
    assert found.spent.failed == found.spent.values // 7
    assert "evaluations failed" in repr(found)
    assert "RuntimeError: no convergence" in repr(found)
    assert np.isfinite(found.mean.value).all()


def test_a_mistake_that_was_told_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    for wrong in (lambda x: 1 / 0, lambda x: (posterior(x)[0], -posterior(x)[1])):
        with pytest.raises(ParameterError):
            rnshmc.sample(wrong, 0.5 * SCALES, filepath=path)
    found = run(filepath=path)
    assert found.spent == run().spent


def points_in(path: Path) -> list[bytes]:
    return [np.array(json.loads(line)["x"]).tobytes() for line in path.read_text().splitlines()[1:]]


def test_a_run_that_starts_again_comes_to_the_same_result_for_one_point(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    first = run(filepath=path, budget=40)
    assert first.outcome.stopped is not None
    second, third, never_stopped = run(filepath=path), run(filepath=path), run()
    for found in (second, third):
        assert found.chains.tobytes() == never_stopped.chains.tobytes()
        assert found.mean.value.tobytes() == never_stopped.mean.value.tobytes()
    # A value and a gradient show that the file is of this target.
    assert first.spent.units + second.spent.units == never_stopped.spent.units + 2
    assert third.spent.units == 2


def test_more_draws_go_on_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    run(filepath=path)
    more = run(filepath=path, draws=2000)
    assert len(set(points_in(path))) == len(points_in(path))
    assert more.spent.units < run(draws=2000).spent.units


def test_evaluations_of_somebody_else_are_a_start(tmp_path: Path) -> None:
    run(filepath=tmp_path / "mine.jsonl")
    found = run(evaluations=tmp_path / "mine.jsonl", filepath=tmp_path / "new.jsonl", seed=2)
    assert set(points_in(tmp_path / "mine.jsonl")).isdisjoint(points_in(tmp_path / "new.jsonl"))
    assert "mode" not in found.outcome.by_stage or found.outcome.by_stage["mode"].units == 0


PROGRAM = """
import sys, time
import numpy as np
import rnshmc

MADE = sys.argv[2]  # goes to workers with the function

def posterior(x):
    time.sleep(0.02)
    with open(MADE, "a") as file:
        file.write(x.tobytes().hex() + "\\n")
    return -0.5 * float(x @ x), -x

def run(x):
    return posterior(x)[1] + 0.01 * x**2

if __name__ == "__main__":
    pool = int(sys.argv[3]) or None
    target = posterior if sys.argv[4] == "density" else rnshmc.Model(run, np.zeros(3), likelihood=rnshmc.Gaussian(1.0))
    result = rnshmc.sample(target, np.ones(3), draws=200, filepath=sys.argv[1], pool=pool)
    print(result.spent.units)
"""


@pytest.mark.parametrize(("pool", "target"), [(0, "density"), (2, "density"), (2, "model")])
def test_kill_9_loses_no_evaluation(tmp_path: Path, pool: int, target: str) -> None:
    program, kept, made = (tmp_path / name for name in ("program.py", "kept.jsonl", "made"))
    program.write_text(PROGRAM)
    made.touch()
    command = [sys.executable, str(program), str(kept), str(made), str(pool), target]
    moments = (1, 7, 15)
    for kills, moment in enumerate(moments, start=1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and len(made.read_text().splitlines()) < moment:
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        time.sleep(0.1)  # workers end when they see that nobody listens
        evaluated, written = made.read_text().splitlines(), kept.read_text().splitlines()[1:]
        points = {np.array(json.loads(line)["x"]).tobytes().hex() for line in written if line.endswith("}")}
        # What is not in the file was under way when the program was killed: one evaluation of each worker.
        assert len(set(evaluated) - points) <= kills * max(pool, 1)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    evaluated = made.read_text().splitlines()
    assert len(evaluated) > moments[-1]
    # And each time that it started again, one point of the file was evaluated again.
    assert len(evaluated) - len(set(evaluated)) <= len(moments) * (max(pool, 1) + 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"draws": 2.5}, "draws: expected a whole number of at least 4, got 2.5"),
        ({"draws": 1}, "draws: expected a whole number of at least 4, got 1"),
        ({"seed": -1}, "seed: expected a whole number of at least 0"),
        ({"budget": "100"}, "budget: expected a whole number of at least 0, got '100'"),
        ({"callback": 3}, "callback: expected a function"),
        ({"bounds": [(0, 1)] * 2}, "bounds: expected one entry for each of the 3 parameters"),
        ({"bounds": {"x2": (0, 1)}}, r"x0: x2 = 2\.5 is not strictly between its bounds 0 and 1"),
    ],
)
def test_mistakes_are_told_before_anything_is_evaluated(settings: dict[str, Any], message: str) -> None:
    def never(x: Array) -> float:
        raise AssertionError

    with pytest.raises(ParameterError, match=message):
        rnshmc.sample(never, 0.5 * SCALES, **settings)


def test_a_gradient_that_is_known_to_be_inexact_is_in_the_verdict() -> None:
    found = rnshmc.sample(lambda x: (posterior(x)[0], 1.05 * posterior(x)[1]), 0.5 * SCALES, draws=200)
    assert found.verdict.level != "good"
    assert " ! The gradient is inexact: along one direction at x0 it is " in str(found.verdict)
