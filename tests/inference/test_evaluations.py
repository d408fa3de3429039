"""Exact evaluations: within a budget, never twice, and the same in unconstrained coordinates."""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import BudgetSpent, EvaluationError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Evaluation, Spent
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.vectorized import VectorizedWorker
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of, make_moody, make_normal


def counting() -> tuple[list[Array], Callable[[Array], Any]]:
    """A normal density, and the points at which it was evaluated."""
    seen: list[Array] = []

    def normal(x: Array) -> tuple[float, Array]:
        seen.append(x.copy())
        return -0.5 * float(x @ x), -x

    return seen, normal


def test_the_potential_is_minus_the_log_density_with_the_jacobian(assert_slope: Callable[..., None]) -> None:
    def gamma(x: Array) -> tuple[float, Array]:
        return float(np.log(x[0]) - x[0]), 1 / x - 1

    archive = Archive.of(evaluations_of(gamma, 1, bounds=["positive"]))

    def value(q: Array) -> float:
        [found] = archive.evaluate(q[None], "test")
        return found.value

    [found] = archive.evaluate(np.array([[0.4]]), "test")
    assert found.value == pytest.approx(math.exp(0.4) - 0.8, rel=1e-15)
    assert found.gradient is not None
    assert_slope(value, float(found.gradient[0]), np.array([0.4]), np.ones(1))


def test_nothing_is_evaluated_twice(points: Array) -> None:
    seen, normal = counting()
    exact = evaluations_of(normal)
    batch = np.concatenate([points, points[::-1]])
    first = list(exact.evaluate(batch))
    again = list(exact.evaluate(batch, gradient=False))
    assert len(first) == len(again) == len(batch)
    assert len(seen) == len(points)
    assert exact.spent == Spent(len(points), len(points), 0, len(points))


def test_a_gradient_is_requested_where_only_a_value_is_known(points: Array) -> None:
    model = Density(lambda x: -0.5 * float(x @ x), lambda x: -x)
    exact = Evaluations(make_workers(None, model, time_limit=None), make_transform(None, ["a", "b", "c"]))
    [value] = exact.evaluate(points[0], gradient=False)
    [both] = exact.evaluate(points[0])
    assert value.gradient is None
    assert both.gradient is not None
    assert exact.spent == Spent(2, 1, 0, points=2)


@pytest.mark.parametrize("pool", [None, 2])
@pytest.mark.parametrize("budget", [0, 1, 2, 7, 8])
def test_the_budget_is_used_and_never_exceeded(points: Array, budget: int, pool: int | None) -> None:
    if pool and budget not in (0, 7):
        pytest.skip("processes take a second to start; two budgets will do")
    exact = evaluations_of(make_normal(), pool=pool, budget=budget)
    arrived: list[Evaluation] = []
    said = f"{budget // 2 * 2} of {budget} units are spent, at {budget // 2} points, and the next one needs more"
    with pytest.raises(BudgetSpent, match=said):
        arrived.extend(exact.evaluate(points))
    exact.close()
    assert len(arrived) == budget // 2
    assert exact.spent.units == budget // 2 * 2


def test_known_points_are_free(points: Array) -> None:
    known = [Evaluation(x, 1.0, np.ones(3)) for x in points]
    exact = evaluations_of(make_normal(), known=known, budget=0)
    assert [found.value for found in exact.evaluate(points)] == [1.0] * len(points)
    assert [found.point.tolist() for found in exact.given] == points.tolist()


def test_a_budget_counts_new_points_only(points: Array) -> None:
    known = [Evaluation(x, 1.0, np.ones(3)) for x in points[[0, 2, 3]]]
    for budget, values in ((0, 1), (1, 4), (3, 6), (99, 12)):
        exact = evaluations_of(make_normal(), known=known, budget=budget)
        assert exact.affordable(points) == values
    assert evaluations_of(make_normal()).affordable(points) == len(points)


def test_known_points_are_found_by_their_unconstrained_coordinates(points: Array) -> None:
    known = [Evaluation(np.exp(x), 1.0, np.ones(3)) for x in points]
    archive = Archive.of(evaluations_of(make_normal(), bounds=["positive"] * 3, known=known, budget=0))
    assert len(archive.evaluate(archive.training().points, "test")) == len(points)


def test_known_points_outside_the_bounds_are_left_out() -> None:
    known = [Evaluation(np.array([x]), 1.0) for x in (-1.0, 0.0, 0.5, 1.0)]
    archive = Archive.of(evaluations_of(make_normal(), 1, bounds=["unit"], known=known))
    assert len(archive.training().points) == 1


def test_failures_have_an_infinite_potential_and_a_reason_and_are_not_repeated(points: Array) -> None:
    points = points.copy()
    points[1, 0] = 1.5
    exact = evaluations_of(make_moody())
    for _ in range(2):
        found = {one.point.tobytes(): one for one in exact.evaluate(points)}
        failed = found[points[1].tobytes()]
        assert (failed.value, failed.gradient, failed.failure) == (math.inf, None, "ValueError: no convergence")
    # The function raised before it was seen to return a gradient.
    assert exact.spent == Spent(len(points), len(points) - 1, 1, len(points))


def test_expenses_are_reported_in_points_and_units() -> None:
    assert str(Spent(12315, 12288, 0, 12315)) == "12315 points, 24603 units: 12315 values, 12288 gradients"
    assert str(Spent(5, 2, 3, 4)) == "4 points, 3 failed, 7 units: 5 values, 2 gradients"
    assert Spent(5, 4, 3, 2) - Spent(1, 1, 1, 1) + Spent() == Spent(4, 3, 2, 1)


def test_a_density_of_zero_is_infinite_without_a_failure() -> None:
    [found] = evaluations_of(lambda x: -math.inf, 1).evaluate(np.zeros(1))
    assert (found.value, found.gradient, found.failure) == (math.inf, None, None)


def test_the_potential_grows_without_bound_where_parameters_round_to_a_bound() -> None:
    archive = Archive.of(evaluations_of(lambda x: 0.0, 1, bounds=["unit"]))
    far = [one.value for one in archive.evaluate(np.array([[40.0], [400.0], [4000.0]]), "test")]
    np.testing.assert_allclose(far, [40.0, 400.0, 4000.0], rtol=1e-14)


def test_the_record_is_in_the_order_of_requests_with_any_workers(points: Array) -> None:
    def slow_at_first(x: Array) -> float:
        time.sleep(0.2 * float(np.array_equal(x, points[0])))
        return -0.5 * float(x @ x)

    with ThreadPoolExecutor(2) as pool:
        exact = evaluations_of(slow_at_first, pool=pool)
        arrived = [one.point.tolist() for one in exact.evaluate(points)]
        exact.close()
    assert arrived[0] != points[0].tolist()
    assert [one.point.tolist() for one in exact.record] == points.tolist()


def test_an_abandoned_iterator_withdraws_its_points(points: Array) -> None:
    seen, normal = counting()
    exact = evaluations_of(normal)
    for _ in exact.evaluate(points):
        break
    list(exact.evaluate(points[-1]))
    assert [x.tolist() for x in seen] == [points[0].tolist(), points[-1].tolist()]


def test_answers_at_abandoned_points_are_ignored(points: Array) -> None:
    workers = VectorizedWorker(Density(lambda x: -0.5 * (x**2).sum(axis=1)))
    exact = Evaluations(workers, make_transform(None, ["a", "b", "c"]))
    for _ in exact.evaluate(points[:3]):
        break
    [found] = exact.evaluate(points[4])
    assert found.point.tolist() == points[4].tolist()
    assert exact.spent.points == 2


def test_each_evaluation_is_in_the_file_when_it_arrives(points: Array, tmp_path: Path) -> None:
    path = tmp_path / "evaluations.jsonl"
    exact = evaluations_of(make_normal(), evaluation_log=EvaluationLog(path, ["x0", "x1", "x2"]))
    for number, _ in enumerate(exact.evaluate(points), start=1):
        assert len(path.read_text().splitlines()) == 1 + number
    exact.close()


def test_a_resumed_run_evaluates_nothing_twice(points: Array, tmp_path: Path) -> None:
    def fails_on_the_right(x: Array) -> tuple[float, Array]:
        if x[0] > 0.5:
            raise ValueError("no convergence")
        return -0.5 * float(x @ x), -x

    def exact() -> Evaluations:
        evaluation_log = EvaluationLog(tmp_path / "e.jsonl", ["x0", "x1", "x2"])
        return evaluations_of(fails_on_the_right, evaluation_log=evaluation_log)

    first = exact()
    before = {one.point.tobytes(): one for one in first.evaluate(points)}
    first.close()
    assert 0 < first.spent.failed < len(points)
    second = exact()
    for one in second.evaluate(points):
        other = before[one.point.tobytes()]
        assert (one.value, one.failure) == (other.value, other.failure)
        assert (one.gradient is None and other.gradient is None) or np.array_equal(one.gradient, other.gradient)  # type: ignore[arg-type]
    second.close()
    assert second.spent == Spent()


def test_a_gradient_returned_with_the_value_is_kept(tmp_path: Path) -> None:
    for spent in (2, 0):
        exact = evaluations_of(make_normal(), 1, evaluation_log=EvaluationLog(tmp_path / "e.jsonl", ["x0"]))
        [found] = exact.evaluate(np.ones(1), gradient=bool(spent == 0))
        exact.close()
        assert found.gradient is not None
        assert exact.spent.units == spent


def test_a_target_without_gradient_is_evaluated_once(tmp_path: Path) -> None:
    for expected in (1, 0):
        exact = evaluations_of(lambda x: 0.0, 1, evaluation_log=EvaluationLog(tmp_path / "e.jsonl", ["x0"]))
        [found] = exact.evaluate(np.zeros(1))
        exact.close()
        assert found.gradient is None
        assert exact.spent.values == expected


def test_a_run_ends_when_the_target_is_unavailable(points: Array) -> None:
    def gone(x: Array) -> float:
        raise EvaluationError("the server at http://nowhere does not answer")

    for pool in (None, ThreadPoolExecutor(2)):
        with pytest.raises(EvaluationError, match="http://nowhere does not answer"):
            list(evaluations_of(gone, pool=pool).evaluate(points))


def test_workers_continue_while_the_caller_computes(tmp_path: Path) -> None:
    def density(x: Array) -> float:
        (tmp_path / f"{x[0]:g}").touch()
        return 0.0

    exact = evaluations_of(density, 1, pool=1)
    arriving = exact.evaluate(np.arange(3.0)[:, None])
    next(arriving)
    # The second evaluation takes place although the caller has not asked for it.
    deadline = time.monotonic() + 60.0
    while not (tmp_path / "1").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    next(arriving)
    exact.close()


def test_without_gradients_or_a_budget_points_are_limited(tmp_path: Path) -> None:
    """By default, and at the same point in a run that is resumed from its file."""
    points = np.arange(24.0).reshape(8, 3)

    def run() -> list[int]:
        with closing(EvaluationLog(tmp_path / "log", list("abc"))) as log:
            exact = evaluations_of(lambda x: -0.5 * x @ x, most_points=6, evaluation_log=log)
            list(exact.evaluate(points[:2]))
            assert exact.units_left == 4
            assert exact.affordable(points) == 6
            with pytest.raises(BudgetSpent, match="without gradients, 6 points are the limit; `budget` sets another"):
                list(exact.evaluate(points))
            list(exact.evaluate(points[:6]))
            assert exact.units_left == 0
            return [exact.spent.points, exact.requested]

    assert run() == [6, 6]
    assert run() == [0, 6]


def test_a_budget_replaces_the_limit_of_points() -> None:
    exact = evaluations_of(lambda x: -0.5 * x @ x, most_points=2, budget=7)
    assert len(list(exact.evaluate(np.arange(18.0).reshape(6, 3)))) == 6
