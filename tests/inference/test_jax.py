"""Log densities written in JAX."""

from typing import Any

import numpy as np
import pytest

from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Task
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.vectorized import VectorizedWorker
from rnshmc.types import Array

jax = pytest.importorskip("jax", reason="jax is not installed")
X = np.array([0.1, -0.2, 0.3])


def make_density() -> Any:
    def density(x: Any) -> Any:
        return -jax.numpy.cosh(x).sum() * 1e3

    return density


def exact() -> tuple[float, Array]:
    return float(-np.cosh(X).sum() * 1e3), -np.sinh(X) * 1e3


def test_it_is_differentiated_in_double_precision() -> None:
    model = Density(make_density())
    for _ in range(2):
        answer, cost = model.evaluate(X, gradient=True)
        value, gradient = exact()
        assert -answer.value == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(answer.gradient, -gradient, rtol=1e-12)  # type: ignore[arg-type]
    assert (cost.values, cost.gradients) == (1, 1)
    assert -model.evaluate(X, gradient=False)[0].value == pytest.approx(value, rel=1e-14)


def test_the_first_evaluation_is_counted_as_what_it_takes() -> None:
    _, cost = Density(make_density()).evaluate(X, gradient=True)
    assert (cost.values, cost.gradients) == (2, 1)


def test_it_can_be_pickled() -> None:
    workers = make_workers(1, Density(make_density()), time_limit=None)
    workers.submit(Task(0, X, True))
    _, (answer, _) = workers.next()
    workers.close()
    assert -answer.value == pytest.approx(exact()[0], rel=1e-14)


def test_rows_of_a_batch_are_differentiated_each_by_itself() -> None:
    workers = VectorizedWorker(Density(lambda x: -jax.numpy.cosh(x).sum(axis=-1) * 1e3))
    points = np.stack([X, 2 * X, -X])
    for calls in (2, 1):  # the first batch is evaluated twice: before it is known to be of JAX, and in doubles
        for number, x in enumerate(points):
            workers.submit(Task(number, x, number > 0))
        for x in points:
            task, (answer, cost) = workers.next()
            assert -answer.value == pytest.approx(-np.cosh(x).sum() * 1e3, rel=1e-14)
            assert (cost.values, cost.gradients) == (calls, int(task.gradient))
            if task.gradient:
                np.testing.assert_allclose(answer.gradient, np.sinh(x) * 1e3, rtol=1e-12)  # type: ignore[arg-type]
            else:
                assert answer.gradient is None
