import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.gp_regression import GPRegression, from_file
from rnshmc.types import Array, Potential

N, PRIOR_SD = 40, 3.0
POSITIONS = [np.zeros(2), np.array([0.7, -3.0]), np.array([-1.5, 1.0])]

pytestmark = pytest.mark.filterwarnings("error")


def data() -> tuple[Array, Array]:
    rng = stream(8, "tests", "gp regression")
    X = rng.standard_normal((N, 4))
    return X, X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.standard_normal(N)


@pytest.fixture(scope="module")
def target() -> GPRegression:
    return GPRegression(*data(), prior_sd=PRIOR_SD)


def test_it_is_a_potential(target: GPRegression) -> None:
    assert isinstance(target, Potential)
    assert target.dim == 2


@pytest.mark.parametrize("q", POSITIONS)
def test_value_is_the_negative_log_posterior_up_to_a_constant(target: GPRegression, q: Array) -> None:
    X, y = data()
    length, noise = np.exp(q)
    covariance = Matern(length, nu=1.5)(X) + noise * np.eye(N)
    misfit = y @ np.linalg.solve(covariance, y)
    expected = 0.5 * (misfit + np.linalg.slogdet(covariance)[1]) + q @ q / (2 * PRIOR_SD**2)
    # The condition number of the covariance is at most (1 + N) / noise, under 1e3 here.
    eps = float(np.finfo(np.float64).eps)
    assert target.value(q) == pytest.approx(expected, rel=10 * eps * (N + np.linalg.cond(covariance)))


@pytest.mark.parametrize("q", POSITIONS)
def test_gradient_is_the_slope_of_the_value(target: GPRegression, q: Array, assert_slope: Callable[..., None]) -> None:
    for direction in (*np.eye(2), np.array([0.6, -0.8])):
        assert_slope(target.value, target.gradient(q) @ direction, q, direction, relative_error=1e-12)


def test_the_three_evaluations_give_the_same_bytes(target: GPRegression) -> None:
    for q in POSITIONS:
        value, gradient = target.value_and_grad(q)
        assert value == target.value(q)
        assert gradient.tobytes() == target.gradient(q).tobytes()


def test_priors_of_the_hyperparameters_are_lognormal() -> None:
    """Where the data say nothing about l, a change of log l is a change of its Gaussian prior alone."""
    target = GPRegression([[0.0]], [1.0], prior_sd=0.5)
    q = np.array([0.3, -0.2])
    for log_length in (-1.0, 2.0):
        moved = np.array([log_length, q[1]])
        law = stats.norm(0.0, 0.5)
        assert target.value(moved) - target.value(q) == pytest.approx(
            law.logpdf(q[0]) - law.logpdf(log_length), rel=1e-12
        )


def test_with_a_tiny_length_scale_the_process_is_white_noise() -> None:
    X, y = data()
    target = GPRegression(X, y, prior_sd=1e100)
    q = np.array([-8.0, 0.4])
    variance = 1 + math.exp(0.4)
    value, gradient = target.value_and_grad(q)
    assert value == pytest.approx(0.5 * (y @ y / variance + N * math.log(variance)), rel=1e-12)
    by_noise = 0.5 * math.exp(0.4) * (N / variance - y @ y / variance**2)
    assert gradient == pytest.approx([0.0, by_noise], rel=1e-12, abs=1e-12)


def test_order_of_rows_and_motions_of_the_inputs_do_not_matter(target: GPRegression) -> None:
    X, y = data()
    order = stream(8, "order").permutation(N)
    rotation = np.linalg.qr(stream(8, "rotation").standard_normal((4, 4)))[0]
    for moved in (
        GPRegression(X[order], y[order], prior_sd=PRIOR_SD),
        GPRegression(X @ rotation + 3, y, prior_sd=PRIOR_SD),
    ):
        for q in POSITIONS:
            assert moved.value(q) == pytest.approx(target.value(q), rel=1e-11)
            assert moved.gradient(q) == pytest.approx(target.gradient(q), rel=1e-9)


def test_scaled_inputs_have_a_scaled_length() -> None:
    X, y = data()
    flat = 1e100
    q = POSITIONS[1]
    scaled = GPRegression(3 * X, y, prior_sd=flat).value(np.array([q[0] + math.log(3), q[1]]))
    assert scaled == pytest.approx(GPRegression(X, y, prior_sd=flat).value(q), rel=1e-12)


def test_prediction_is_that_of_the_textbook(target: GPRegression) -> None:
    """Against scikit-learn; the noise is in the data, not in the process that is predicted."""
    X, y = data()
    points = stream(8, "points").standard_normal((7, 4))
    for q in POSITIONS:
        length, noise = np.exp(q)
        other = GaussianProcessRegressor(Matern(length, nu=1.5) + WhiteKernel(noise), alpha=0.0, optimizer=None)
        mean, covariance = other.fit(X, y).predict(points, return_cov=True)
        ours = target.predict(q, points)
        assert ours[0] == pytest.approx(mean, rel=1e-10)
        assert ours[1] == pytest.approx(covariance - noise * np.eye(7), abs=1e-11)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 800.0, -800.0])
@pytest.mark.parametrize("index", [0, 1])
def test_a_position_out_of_range_is_a_numerical_error(target: GPRegression, index: int, bad: float) -> None:
    q = np.zeros(2)
    q[index] = bad
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(NumericalError):
            evaluate(q)


def test_a_covariance_that_cannot_be_factorised_is_a_numerical_error() -> None:
    # Two equal inputs, and a noise that is lost in 1.
    target = GPRegression([[0.0], [0.0]], [1.0, 2.0], prior_sd=PRIOR_SD)
    with pytest.raises(NumericalError, match="not positive definite"):
        target.value_and_grad(np.array([0.0, -80.0]))


def test_arguments_are_neither_changed_nor_kept() -> None:
    X, y = data()
    target = GPRegression(X, y, prior_sd=PRIOR_SD)
    q = POSITIONS[1].copy()
    before = target.value_and_grad(q)[0]
    assert np.array_equal(q, POSITIONS[1])
    assert np.array_equal(X, data()[0])
    X[:], y[:] = 0.0, 0.0
    assert target.value(q) == before


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([1.0, 2.0], [1.0, 2.0], r"X .* shape \(2,\)"),
        (np.empty((0, 3)), [], r"X .* shape \(0, 3\)"),
        ([[1.0], [2.0]], [1.0], r"y .* 2 rows of X, got shape \(1,\)"),
        ([[1.0], [np.nan]], [1.0, 2.0], "X must be finite, got nan in row 1"),
        ([[1.0], [2.0]], [np.inf, 2.0], "y must be finite, got inf in entry 0"),
    ],
)
def test_bad_data_are_refused_by_name(X: object, y: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        GPRegression(X, y, prior_sd=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("prior_sd", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_sd_that_is_not_positive_is_refused(prior_sd: float) -> None:
    with pytest.raises(ParameterError, match=f"prior_sd .* got {prior_sd}"):
        GPRegression([[1.0]], [1.0], prior_sd=prior_sd)


def test_from_file_is_the_target_of_the_stored_data(tmp_path: Path, target: GPRegression) -> None:
    X, y = data()
    np.savez(tmp_path / "gp.npz", X=X, y=y, origin="simulated")
    assert from_file(tmp_path / "gp.npz", prior_sd=PRIOR_SD).value(POSITIONS[1]) == target.value(POSITIONS[1])
    np.savez(tmp_path / "gp.npz", X=X, y=np.full(N, np.nan), origin="simulated")
    with pytest.raises(DataError, match=r"gp\.npz: y must be finite"):
        from_file(tmp_path / "gp.npz", prior_sd=PRIOR_SD)
