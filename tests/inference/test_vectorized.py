"""Targets with further arguments, and targets that take all points of a batch in one call."""

from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Answer, Task
from rnshmc.inference.exact.forward_posterior import Runner
from rnshmc.inference.exact.target import make_posterior
from rnshmc.inference.exact.vectorized import VectorizedWorker
from rnshmc.types import Array

SCALES = np.array([1.0, 0.1])
MINUTES = np.arange(1, 13) / 2
SETTINGS: dict[str, Any] = {"draws": 200, "progress_bar": False}


def posterior(x: Array, scales: Array = SCALES, *, fourth: float = 0.05) -> tuple[float, Array]:
    z = x / scales
    return float(-0.5 * z @ z - fourth * (z**4).sum()), -(z + 4 * fourth * z**3) / scales


def rows(x: Array) -> tuple[Array, Array]:
    """The same at rows, computed row by row so that the last digits agree."""
    pairs = [posterior(one) for one in x]
    return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])


def answers(target: Any, points: Array, *, gradient: bool = True, slope: Any = None) -> list[Answer]:
    return answered(VectorizedWorker(Density(target, slope)), points, gradient=gradient)


def answered(workers: VectorizedWorker, points: Array, *, gradient: bool = True) -> list[Answer]:
    for number, x in enumerate(points):
        workers.submit(Task(number, x, gradient))
    return [workers.next()[1] for _ in points]


def test_further_arguments_reach_the_target_and_its_gradient() -> None:
    plain = rnshmc.sample(posterior, 0.5 * SCALES, **SETTINGS)
    given: dict[str, Any] = {"args": (SCALES,), "kwargs": {"fourth": 0.05}, **SETTINGS}
    assert rnshmc.sample(posterior, 0.5 * SCALES, **given).draws.tobytes() == plain.draws.tobytes()
    apart = {"gradient": lambda x, *args, **kwargs: posterior(x, *args, **kwargs)[1], **given}
    found = rnshmc.sample(lambda x, *args, **kwargs: posterior(x, *args, **kwargs)[0], 0.5 * SCALES, **apart)
    assert found.draws.tobytes() == plain.draws.tobytes()
    pooled = rnshmc.sample(posterior, 0.5 * SCALES, pool=1, **given)
    assert pooled.draws.tobytes() == plain.draws.tobytes()


def test_arguments_that_cannot_be_used_are_named() -> None:
    model = rnshmc.Model(lambda x: x, [1.0, 2.0], likelihood=rnshmc.Gaussian(sd=1.0))
    for wrong, told in (
        ({"args": 3}, "args: expected a sequence"),
        ({"args": "ab"}, "args: expected a sequence"),
        ({"kwargs": [1]}, "kwargs: expected a mapping"),
    ):
        with pytest.raises(rnshmc.ParameterError, match=told):
            rnshmc.sample(posterior, [1.0, 1.0], **wrong)
    with pytest.raises(rnshmc.ParameterError, match="args: further arguments are for a target that is a function"):
        rnshmc.sample(model, [1.0, 1.0], args=(1,))
    with pytest.raises(rnshmc.ParameterError, match="kwargs: further arguments are for a target that is a function"):
        rnshmc.sample(rnshmc.Banana.__new__(rnshmc.Banana), [1.0, 1.0], kwargs={"a": 1})


def test_a_vectorised_target_is_called_with_batches_and_gives_the_same_result() -> None:
    sizes: list[int] = []

    def counted(x: Array) -> tuple[Array, Array]:
        sizes.append(len(x))
        return rows(x)

    found = rnshmc.sample(counted, 0.5 * SCALES, vectorize=True, **SETTINGS)
    plain = rnshmc.sample(posterior, 0.5 * SCALES, **SETTINGS)
    assert found.draws.tobytes() == plain.draws.tobytes()
    assert found.spent == plain.spent
    assert sum(sizes) == found.spent.points
    # The first checks alone are 16 points.
    assert max(sizes) >= 16


def test_a_forward_model_takes_rows_too() -> None:
    def one(x: Array) -> Array:
        return np.asarray(x[0] * (1 - np.exp(-x[1] * MINUTES)))

    def many(x: Array) -> dict[str, Array]:
        return {"rise": np.array([one(row) for row in x])}

    points = np.random.default_rng(2).uniform(0.5, 1.0, (5, 3))
    data, likelihood = one(np.array([8.0, 0.35])), rnshmc.Gaussian(sd="noise")
    runner = make_posterior(
        rnshmc.Model(many, {"rise": data}, likelihood=likelihood), None, ("top", "rate", "noise")
    ).evaluable
    assert isinstance(runner, Runner)
    for x, (found, _) in zip(points, answered(VectorizedWorker(runner), points), strict=True):
        assert found.run is not None
        # The noise is no parameter of the model.
        np.testing.assert_array_equal(found.point, x[:2])
        np.testing.assert_array_equal(found.run.outputs, one(x[:2]))


def test_the_gradient_may_be_a_separate_function_of_rows() -> None:
    points = np.random.default_rng(2).standard_normal((5, 2))
    asked: list[int] = []

    def values(x: Array) -> Array:
        return np.where(x[:, 0] > 0, rows(x)[0], -np.inf)

    def slopes(x: Array) -> Array:
        asked.append(len(x))
        return rows(x)[1]

    found = answers(values, points, slope=slopes)
    for x, (one, cost) in zip(points, found, strict=True):
        if x[0] > 0:
            np.testing.assert_array_equal(one.gradient, -posterior(x)[1])  # type: ignore[arg-type]
            assert (cost.values, cost.gradients) == (1, 1)
        else:
            assert (one.value, one.gradient, cost.gradients) == (np.inf, None, 0)
    assert asked == [np.count_nonzero(points[:, 0] > 0)]
    assert all(one.gradient is None for one, _ in answers(values, points, gradient=False, slope=slopes))
    assert len(asked) == 1


def test_rows_of_nan_fail_alone_and_exceptions_fail_the_batch() -> None:
    points = np.arange(8.0).reshape(4, 2)

    def some(x: Array) -> Array:
        return np.where(x[:, 0] == 2.0, np.nan, -x[:, 0])

    failures = [one.failure for one, _ in answers(some, points)]
    assert [failure is not None for failure in failures] == [False, True, False, False]

    def broken(x: Array) -> Array:
        raise RuntimeError("no convergence")

    assert {one.failure for one, _ in answers(broken, points)} == {"RuntimeError: no convergence"}

    def gone(x: Array) -> Array:
        raise EvaluationError("the server is gone")

    with pytest.raises(EvaluationError, match="the server is gone"):
        answers(gone, points)


def test_a_function_of_one_point_is_refused_at_the_start() -> None:
    with pytest.raises(rnshmc.ParameterError, match=r"returns a row for each, got shape \(\) for 1 points"):
        rnshmc.sample(lambda x: -np.sum(x**2), [1.0, 1.0], vectorize=True)


def test_targets_that_cannot_be_vectorised_are_refused() -> None:
    for name in ("pool", "time_limit"):
        with pytest.raises(rnshmc.ParameterError, match=f"{name}: not possible with vectorize=True"):
            rnshmc.sample(rows, [1.0, 1.0], vectorize=True, **{name: 2})  # type: ignore[arg-type]
    potential = rnshmc.TwistedGaussian.__new__(rnshmc.TwistedGaussian)
    with pytest.raises(rnshmc.ParameterError, match="vectorize: expected a function of points as rows or a Model"):
        rnshmc.sample(potential, np.ones(2), vectorize=True)


def test_masked_rows_fail_alone() -> None:
    masked_array: Any = np.ma.masked_array
    points = np.arange(8.0).reshape(4, 2)
    found = answers(lambda x: masked_array(-x[:, 0], x[:, 0] == 2.0), points, gradient=False)
    assert [one.failure is not None for one, _ in found] == [False, True, False, False]
