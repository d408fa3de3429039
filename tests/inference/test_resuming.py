"""Going on from a file of evaluations: the target must be the one whose evaluations it holds."""

import json
import logging
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import StoreError
from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.resuming import (
    GRADIENT_RTOL,
    IN_A_ROW,
    SPREAD_RTOL,
    TRIES,
    VALUE_RTOL,
    candidates,
    difference,
)
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of

NAMES = ["a", "b"]
Target = Callable[[Array], Any]


def normal(sd: float = 1.0, *, constant: float = 0.0, wrong: float = 1.0) -> Target:
    """A normal density of two parameters; the second entry of its gradient may be wrong by a factor."""

    def density(x: Array) -> tuple[float, Array]:
        return constant - 0.5 * float(x @ x) / sd**2, -x * [1.0, wrong] / sd**2

    return density


def run(target: Any, path: Path, **settings: Any) -> rnshmc.Result:
    return rnshmc.sample(target, [0.5, 1.0], **{"names": NAMES, "draws": 20, "filepath": path, **settings})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the evaluations of the standard normal."""
    run(normal(), tmp_path / "run.jsonl")
    return tmp_path / "run.jsonl"


NUMBER = r"-?\d\S*"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (normal(2.0), f"the log density is {NUMBER} in the file, and {NUMBER} now"),
        (normal(constant=0.01), f"the log density is {NUMBER} in the file, and {NUMBER} now"),
        (
            normal(wrong=1.2),
            f"the derivative of the log density by b is {NUMBER} in the file, and {NUMBER} now",
        ),
    ],
    ids=["another scale", "another constant", "a mended gradient"],
)
def test_a_file_of_another_target_is_refused_and_left_alone(path: Path, other: Target, said: str) -> None:
    before = path.read_bytes()
    whole = (
        rf"filepath: \S*run\.jsonl holds evaluations of another target: at a = {NUMBER}, b = {NUMBER} {said}\. Name "
        "another file, or remove this one to start again"
    )
    with pytest.raises(StoreError, match=whole):
        run(other, path)
    assert path.read_bytes() == before


def test_both_numbers_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"format": "rnshmc evaluations 1", "names": ["a", "b"]}\n'
        '{"x": [0.5, 1.0], "log_density": -3.5, "gradient": [-0.5, -1.0]}\n'
    )
    with pytest.raises(StoreError, match=r"at a = 0\.5, b = 1 the log density is -3\.5 in the file, and -0\.625 now"):
        run(normal(), path)


def test_the_same_target_costs_one_point_and_reports_it(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before, held = path.read_bytes(), len(path.read_text().splitlines()) - 1
    with caplog.at_level(logging.INFO, "rnshmc"):
        again = run(normal(), path)
    assert (again.spent.values, again.spent.gradients) == (1, 1)
    assert f"holds {held} evaluations; one was repeated and agrees, for 2 units" in caplog.text
    assert path.read_bytes() == before


def test_a_resumed_run_uses_the_stored_evaluation_and_not_the_new_one(path: Path) -> None:
    def rounded(x: Array) -> tuple[float, Array]:
        value, slope = normal()(x)
        return value * (1 + 1e-13), slope * (1 + 1e-13)

    exact = evaluations_of(rounded, 2, evaluation_log=EvaluationLog(path, NAMES))
    exact.confirm()
    stored = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    found = [next(exact.evaluate(np.array(line["x"]), gradient=False)) for line in stored]
    exact.close()
    assert [-one.value for one in found] == [line["log_density"] for line in stored]
    assert exact.spent.points == 1


def test_a_budget_too_small_for_the_point_is_spent(path: Path) -> None:
    with pytest.raises(rnshmc.BudgetSpent, match="0 of 1 units are spent"):
        run(normal(), path, budget=1)
    assert run(normal(), path, budget=2).outcome.stopped is None


def test_a_target_that_fails_now_is_tried_at_other_points_and_then_refused(path: Path) -> None:
    asked = 0

    def fails(first: int) -> Target:
        def density(x: Array) -> Any:
            nonlocal asked
            asked += 1
            if asked <= first:
                raise ValueError("no licence")
            return normal()(x)

        return density

    again = run(fails(2), path)
    assert (again.spent.failed, asked) == (2, 3)
    asked = 0
    with pytest.raises(StoreError, match=r"in the file, and the evaluation failed \(ValueError: no licence\) now"):
        run(fails(3), path)
    assert asked == 3


def test_a_file_of_failures_alone_is_used_once_the_target_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    text = (
        '{"format": "rnshmc evaluations 1", "names": ["a", "b"]}\n'
        '{"x": [0.5, 1.0], "log_density": null, "gradient": null, "failure": "ZeroDivisionError: division by zero"}\n'
    )
    path.write_text(text)
    with pytest.raises(rnshmc.ParameterError, match="it cannot be evaluated at x0: ZeroDivisionError"):
        run(lambda x: 1 / 0, path)
    assert path.read_text() == text
    assert run(normal(), path).outcome.failures == {}


class Breaking:
    """A density without gradient that works a number of times, and fails from then on."""

    def __init__(self, works: float) -> None:
        self.works, self.asked = works, 0

    def __call__(self, x: Array) -> float:
        self.asked += 1
        if self.asked > self.works:
            raise OSError("No space left on device")
        return -0.5 * float(x @ x) - 0.1 * float((x**4).sum())


FOR_GOOD = (
    rf"the target fails for good: {IN_A_ROW} evaluations in a row failed, as did one at a point where it had worked "
    r"\(OSError: No space left on device\); repair it and call again. The evaluations are in the file"
)


@pytest.mark.parametrize("pool", [None, 2])
def test_a_target_that_fails_for_good_ends_the_run_and_is_resumed_when_repaired(
    tmp_path: Path, pool: int | None
) -> None:
    breaking, path = Breaking(8), tmp_path / "run.jsonl"
    with ThreadPoolExecutor(2) as threads:
        workers = threads if pool else None
        with pytest.raises(rnshmc.EvaluationError, match=FOR_GOOD):
            run(breaking, path, pool=workers)
        assert breaking.asked - breaking.works <= IN_A_ROW + 1 + 4 * bool(pool)  # those under way
        mended = Breaking(math.inf)
        found = run(mended, path, pool=workers)
    assert found.outcome.failures == {}
    if not pool:  # two evaluate in any order
        whole = run(Breaking(math.inf), tmp_path / "whole.jsonl")
        assert found.chains.tobytes() == whole.chains.tobytes()
        # One stored point, and one that failed, are evaluated anew.
        assert mended.asked == whole.spent.units - breaking.works + 2


def test_draws_of_a_target_that_fails_for_good_are_kept(tmp_path: Path) -> None:
    whole = run(Breaking(math.inf), tmp_path / "whole.jsonl", draws=200)
    found = run(Breaking(whole.spent.units - 10), tmp_path / "run.jsonl", draws=200)
    assert len(found.draws)
    assert re.match(FOR_GOOD, found.outcome.stopped or "")


def test_a_target_that_fails_in_a_region_continues_and_its_failures_are_kept(tmp_path: Path) -> None:
    def density(x: Array) -> float:
        if x[0] < 0.4:
            raise ValueError("not defined")
        return -0.5 * float(x @ x)

    path = tmp_path / "run.jsonl"
    density_at_many = evaluations_of(density, 2, evaluation_log=EvaluationLog(path, NAMES))
    points = np.column_stack([np.linspace(1.0, -9.0, 5 * IN_A_ROW), np.zeros(5 * IN_A_ROW)])
    found = list(density_at_many.evaluate(points))
    density_at_many.close()
    failures = sum(one.failed for one in found)
    assert failures > 4 * IN_A_ROW
    assert density_at_many.spent.points == len(points) + failures // IN_A_ROW
    again = evaluations_of(density, 2, evaluation_log=EvaluationLog(path, NAMES))
    again.confirm()
    assert again.spent.points == 1 + TRIES
    assert sum(one.failed for one in again.evaluate(points)) == failures
    assert again.spent.points == 1 + TRIES
    again.close()


class Digested:
    """A normal density with a digest that counts its calls."""

    def __init__(self, digest: Any, sd: float = 1.0) -> None:
        self.digest, self.asked, self._density = digest, 0, normal(sd)

    def __call__(self, x: Array) -> Any:
        self.asked += 1
        return self._density(x)


def test_an_equal_digest_saves_the_evaluation_and_another_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(Digested("1f"), path)
    assert json.loads(path.read_text().splitlines()[0])["digest"] == "1f"
    same, other = Digested("1f"), Digested("2e", sd=2.0)
    assert run(same, path).spent.units == same.asked == 0
    with pytest.raises(
        StoreError, match="holds evaluations of another target: its digest is 1f, that of this one is 2"
    ):
        run(other, path)
    assert other.asked == 0


@pytest.mark.parametrize("digest", [None, "", 7])
def test_without_two_digests_the_point_decides(path: Path, digest: Any) -> None:
    for given in (digest, "1f"):
        assert run(Digested(given), path).spent.values == 1
        with pytest.raises(StoreError, match="the log density is"):
            run(Digested(given, sd=2.0), path)


def test_a_digest_does_not_cover_a_separate_gradient(tmp_path: Path) -> None:
    class Valued(Digested):
        def __call__(self, x: Array) -> Any:
            return super().__call__(x)[0]

    path = tmp_path / "run.jsonl"
    run(Valued("1f"), path, gradient=lambda x: -x)
    with pytest.raises(StoreError, match="the derivative of the log density by a is"):
        run(Valued("1f"), path, gradient=lambda x: -2 * x)


def test_a_bad_start_leaves_no_digest_behind(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(rnshmc.ParameterError):
        rnshmc.sample(Digested("1f"), [np.inf, 0.0], names=NAMES, filepath=path)
    wrong = Digested("wrong")
    wrong._density = normal(wrong=-1.0)
    with pytest.raises(rnshmc.ParameterError, match="gradient: it is wrong"):
        run(wrong, path)
    assert run(Digested("1f"), path).outcome.stopped is None
    assert json.loads(path.read_text().splitlines()[0])["digest"] == "1f"


def at(value: float, slope: float | None = None, failure: str | None = None) -> Evaluation:
    return Evaluation(np.zeros(1), value, None if slope is None else np.array([slope]), failure, slope is not None)


def test_the_last_point_with_all_that_can_be_compared_is_chosen() -> None:
    one, two, value, zero, broken = stored = [at(1, 1), at(2, 2), at(3), at(math.inf), at(math.inf, None, "no")]
    assert candidates(stored, gradient=True) == [two, one, value]
    assert candidates(stored, gradient=False) == [value, two, one]
    assert candidates([zero, broken], gradient=True) == [broken, zero]


@pytest.mark.parametrize("size", [1.0, 1e4, 1e9])
def test_rounding_passes_and_a_changed_posterior_does_not(size: float) -> None:
    """Potentials around ``size``, a few units from each other, as a posterior's are."""
    stored = [at(size + k, slope=float(k)) for k in range(1, 8)]
    before, spread = stored[3], 2.0
    allowed = min(VALUE_RTOL * max(1.0, before.value), SPREAD_RTOL * spread)
    for factor, agrees in ((0.5, True), (2.0, False)):
        other_value = at(before.value + factor * allowed, 4.0)
        assert (difference(before, other_value, stored, ["a"]) is None) is agrees
        other_slope = at(before.value, 4.0 * (1 + factor * GRADIENT_RTOL))
        assert (difference(before, other_slope, stored, ["a"]) is None) is agrees


def test_one_stored_run_alone_has_no_spread_to_compare_with() -> None:
    def run(output: float) -> Evaluation:
        return Evaluation(np.zeros(1), 0.0, with_gradient=False, run=Run(np.array([output, 1.0])))

    before = run(2.0)
    for factor, agrees in ((0.5, True), (2.0, False)):
        other = run(2.0 * (1.0 + factor * VALUE_RTOL))
        assert (difference(before, other, [before], ["a"]) is None) is agrees


def test_a_gradient_of_zero_may_be_rounded() -> None:
    before = at(1.0, 0.0)
    assert difference(before, at(1.0, 1e-16), [before], ["a"]) is None
    said = difference(before, at(1.0, -1e-6), [before], ["a"])
    assert said is not None
    assert re.match("the derivative of the log density by a is -?0 in the file, and 1e-06 now", said)


def test_a_new_gradient_is_used_and_the_values_of_the_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(lambda x: normal()(x)[0], path)
    held = len(path.read_text().splitlines())
    found = run(normal(), path)
    assert found.outcome.method == "surrogate"
    assert found.spent.gradients > 3
    assert len(path.read_text().splitlines()) > held


def test_a_removed_gradient_is_not_needed(path: Path) -> None:
    found = run(lambda x: normal()(x)[0], path)
    assert found.spent.gradients == 0
    assert found.spent.values > 1
    assert found.outcome.stopped is None


def test_no_gradient_is_used_or_stored_without_gradients(path: Path) -> None:
    held = len(path.read_text().splitlines())
    exact = evaluations_of(normal(wrong=1.2), 2, evaluation_log=EvaluationLog(path, NAMES), use_gradients=False)
    exact.confirm()
    points = [json.loads(line)["x"] for line in path.read_text().splitlines()[1:]]
    assert all(next(exact.evaluate(np.array(x))).gradient is None for x in [*points, [9.0, 9.0]])
    exact.close()
    assert "gradient" not in json.loads(path.read_text().splitlines()[held])
