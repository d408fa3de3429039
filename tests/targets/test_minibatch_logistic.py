"""Mini-batches estimate the gradient of a logistic regression without bias, under any prior."""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.minibatch_logistic import MinibatchLogistic, with_laplace_prior
from rnshmc.targets.priors import LaplacePrior, NormalPrior, Prior
from rnshmc.types import Array, MinibatchDriver, Potential
from tests.conftest import z_bound

N, DIM = 60, 3
Q = np.array([0.4, -0.7, 0.2])

pytestmark = pytest.mark.filterwarnings("error")


def data() -> tuple[Array, npt.NDArray[np.uint8]]:
    rng = stream(6, "tests", "minibatch logistic")
    return rng.normal(size=(N, DIM)), (rng.random(N) < 0.3).astype(np.uint8)


@pytest.fixture
def target() -> MinibatchLogistic:
    return MinibatchLogistic(*data(), NormalPrior(2.0))


def test_it_is_a_potential_with_minibatches(target: MinibatchLogistic) -> None:
    assert isinstance(target, Potential)
    assert isinstance(target, MinibatchDriver)


def test_it_is_the_logistic_regression(target: MinibatchLogistic) -> None:
    exact = LogisticRegression(*data(), prior_sd=2.0)
    value, gradient = target.value_and_grad(Q)
    assert value == pytest.approx(exact.value(Q), rel=1e-13)
    assert target.value(Q) == value
    np.testing.assert_allclose(gradient, exact.gradient(Q), rtol=1e-12)


@pytest.mark.parametrize("prior", [NormalPrior(2.0), LaplacePrior(0.5)])
def test_all_rows_give_the_gradient(prior: Prior) -> None:
    target = MinibatchLogistic(*data(), prior)
    np.testing.assert_allclose(target.minibatch(stream(6, "all"), N).gradient(Q), target.gradient(Q), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 20])
def test_the_estimate_has_no_bias_and_the_variance_of_a_sample_without_replacement(size: int) -> None:
    X, y = data()
    target, rng, n = MinibatchLogistic(X, y, LaplacePrior(0.5)), stream(6, "bias", str(size)), 4000
    estimates = np.stack([target.minibatch(rng, size).gradient(Q) for _ in range(n)])
    error = estimates.std(axis=0, ddof=1) / math.sqrt(n)
    assert np.all(np.abs(estimates.mean(axis=0) - target.gradient(Q)) < z_bound(DIM) * error)

    rows = (1.0 / (1.0 + np.exp(-X @ Q)) - y)[:, None] * X
    variance = N**2 * rows.var(axis=0, ddof=1) / size * (1.0 - size / N)
    # The relative error of an estimated variance is about sqrt(2 / n), more for one row, whose law has long tails.
    np.testing.assert_allclose(
        estimates.var(axis=0, ddof=1), variance, rtol=z_bound(DIM) * math.sqrt(2 / n) * (3 if size == 1 else 1)
    )


def test_a_minibatch_is_a_function_of_the_position(target: MinibatchLogistic) -> None:
    batch = target.minibatch(stream(6, "fixed"), 10)
    first = batch.gradient(Q)
    batch.gradient(2.0 * Q)
    np.testing.assert_array_equal(batch.gradient(Q), first)
    assert batch.dim == DIM


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_estimate_that_is_not_finite_is_a_numerical_error(target: MinibatchLogistic, bad: float) -> None:
    with pytest.raises(NumericalError, match="mini-batch"):
        target.minibatch(stream(6, "bad"), 10).gradient(np.array([0.0, 0.0, bad]))


@pytest.mark.parametrize("size", [0, N + 1])
def test_a_size_out_of_range_is_named(target: MinibatchLogistic, size: int) -> None:
    with pytest.raises(ParameterError, match=f"batch_size: expected 1 to {N} rows, got {size}"):
        target.minibatch(stream(6, "size"), size)


def test_a_file_is_read_with_a_laplace_prior(tmp_path: Path) -> None:
    X, y = data()
    np.savez(tmp_path / "data.npz", X=X, y=y, origin="simulated")
    target = with_laplace_prior(tmp_path / "data.npz", scale=0.5)
    expected = MinibatchLogistic(X, y, LaplacePrior(0.5))
    assert target.value(Q) == expected.value(Q)
    with pytest.raises(ParameterError, match="scale"):
        with_laplace_prior(tmp_path / "data.npz", scale=0.0)
    np.savez(tmp_path / "labels.npz", X=X, y=y + 1, origin="simulated")
    with pytest.raises(DataError, match=r"labels\.npz: y must be 0 or 1"):
        with_laplace_prior(tmp_path / "labels.npz", scale=0.5)
