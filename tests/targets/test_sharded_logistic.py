"""On one rank, the sharded potential equals the logistic regression. tests/mpi tests two ranks."""

from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.sharded_logistic import ShardedLogistic
from rnshmc.types import Array, RiemannianPotential

MPI = pytest.importorskip("mpi4py.MPI")
DIM = 4


def data() -> tuple[Array, Array]:
    rng = stream(1, "tests", "sharded")
    X = rng.standard_normal((500, DIM))
    return X, (rng.random(500) < 0.4).astype(np.float64)


@pytest.fixture
def target() -> ShardedLogistic:
    return ShardedLogistic(MPI.COMM_SELF, *data(), 2.0)


@pytest.fixture
def q() -> Array:
    return stream(2, "tests", "sharded").standard_normal(DIM)


class Copies:
    """A communicator of ranks that all hold the same rows, seen from one of them."""

    rank, size = 0, 3

    def allgather(self, item: object) -> list[object]:
        return [item] * self.size

    def Allreduce(self, part: Array, total: Array) -> None:  # noqa: N802
        total[...] = self.size * part


def test_one_rank_gives_the_same_bytes(target: ShardedLogistic, q: Array) -> None:
    whole = LogisticRegression(*data(), 2.0)
    factor = stream(3, "tests", "sharded").standard_normal((DIM, 2))
    assert isinstance(target, RiemannianPotential)
    assert target.value(q) == whole.value(q)
    np.testing.assert_array_equal(target.gradient(q), whole.gradient(q))
    assert target.value_and_grad(q)[0] == whole.value_and_grad(q)[0]
    np.testing.assert_array_equal(target.value_and_grad(q)[1], whole.value_and_grad(q)[1])
    np.testing.assert_array_equal(target.metric(q), whole.metric(q))
    np.testing.assert_array_equal(target.metric_vjp(q, factor), whole.metric_vjp(q, factor))


def test_the_prior_counts_once(q: Array) -> None:
    X, y = data()
    target, whole = ShardedLogistic(Copies(), X, y, 0.1), LogisticRegression(np.tile(X, (3, 1)), np.tile(y, 3), 0.1)
    assert target.value(q) == pytest.approx(whole.value(q), rel=1e-13)
    np.testing.assert_allclose(target.gradient(q), whole.gradient(q), rtol=1e-12)
    np.testing.assert_allclose(target.metric(q), whole.metric(q), rtol=1e-12, atol=1e-10)


def test_gradient_is_the_slope_of_the_value(
    target: ShardedLogistic, q: Array, assert_slope: Callable[..., None]
) -> None:
    direction = stream(4, "tests", "sharded").standard_normal(DIM)
    assert_slope(target.value, target.gradient(q) @ direction, q, direction)


def test_a_position_that_is_not_finite_is_a_numerical_error(target: ShardedLogistic) -> None:
    for evaluate in (target.value, target.gradient, target.value_and_grad, target.metric):
        with pytest.raises(NumericalError):
            evaluate(np.full(DIM, np.nan))


def test_bad_rows_and_a_bad_prior_are_named() -> None:
    X, y = data()
    with pytest.raises(ParameterError, match="prior_sd must be a positive number, got -1"):
        ShardedLogistic(Copies(), X, y, -1.0)
    with pytest.raises(DataError, match="X must have rows"):
        ShardedLogistic(MPI.COMM_SELF, np.empty((0, 2)), [], 1.0)
