from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array, Potential, RiemannianDriver
from tests.conftest import FAILURE, z_bound

DIM = 5

pytestmark = pytest.mark.filterwarnings("error")


def moments() -> tuple[Array, Array]:
    rng = stream(5, "tests", "gaussian")
    root = rng.standard_normal((DIM, DIM))
    return rng.standard_normal(DIM), root @ root.T + 0.1 * np.eye(DIM)


@pytest.fixture
def target() -> Gaussian:
    return Gaussian(*moments())


def test_it_is_a_potential_and_has_a_metric(target: Gaussian) -> None:
    assert isinstance(target, Potential)
    assert isinstance(target, RiemannianDriver)
    assert target.dim == DIM


def test_value_is_the_negative_log_density_up_to_a_constant(target: Gaussian) -> None:
    mean, covariance = moments()
    states = stream(5, "tests", "states").standard_normal((20, DIM))
    log_density = stats.multivariate_normal(mean, covariance).logpdf
    constant = log_density(mean)
    rounding = 100 * float(np.finfo(np.float64).eps * np.linalg.cond(covariance))
    for q in states:
        assert target.value(q) == pytest.approx(constant - log_density(q), rel=rounding)
    assert target.value(mean) == 0.0


def test_gradient_is_the_slope_of_the_value(target: Gaussian, assert_slope: Callable[..., None]) -> None:
    q, direction = stream(5, "tests", "slope").standard_normal((2, DIM))
    assert_slope(target.value, target.gradient(q) @ direction, q, direction)


def test_metric_is_the_hessian_and_does_not_change(target: Gaussian, assert_slope: Callable[..., None]) -> None:
    q, direction = stream(5, "tests", "metric").standard_normal((2, DIM))
    assert_slope(target.gradient, target.metric(q) @ direction, q, direction)
    assert np.array_equal(target.metric(q), target.metric(q).T)
    assert np.array_equal(target.metric_vjp(q, np.eye(DIM)), np.zeros(DIM))
    with pytest.raises(ValueError, match="read-only"):
        target.metric(q)[0, 0] = 1.0


def test_value_and_grad_are_value_and_gradient(target: Gaussian) -> None:
    q = stream(5, "tests", "both").standard_normal(DIM)
    value, gradient = target.value_and_grad(q)
    assert value == target.value(q)
    assert gradient.tobytes() == target.gradient(q).tobytes()


def test_draws_have_the_mean_and_covariance_of_the_distribution(target: Gaussian) -> None:
    mean, covariance = moments()
    n = 20_000
    draws = target.sample(stream(5, "tests", "draws"), n)
    assert draws.shape == (n, DIM)
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((draws.mean(axis=0) - mean) / sd).max() < z_bound(DIM) / np.sqrt(n)
    # The variance of a sample covariance of normal draws is (C_ii C_jj + C_ij^2) / n.
    error = np.sqrt((np.outer(sd**2, sd**2) + covariance**2) / n)
    assert (np.abs(np.cov(draws.T) - covariance) / error).max() < z_bound(DIM**2)
    # Twice the potential is chi-square distributed with DIM degrees of freedom.
    doubled = [2 * target.value(q) for q in draws[:2000]]
    assert stats.kstest(doubled, stats.chi2(DIM).cdf).pvalue > FAILURE


def test_arguments_are_neither_changed_nor_kept() -> None:
    mean, covariance = moments()
    target = Gaussian(mean, covariance)
    before = target.value(np.zeros(DIM))
    assert np.array_equal(mean, moments()[0])
    assert np.array_equal(covariance, moments()[1])
    mean[:], covariance[:] = 0.0, 0.0
    assert target.value(np.zeros(DIM)) == before


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        ([], [], r"mean must be a vector, got shape \(0,\)"),
        ([[0.0]], [[1.0]], r"mean must be a vector, got shape \(1, 1\)"),
        ([0.0, np.nan], np.eye(2), "mean must be finite, got nan in entry 1"),
        ([0.0, 0.0], np.eye(3), r"covariance must have shape \(2, 2\) .* got \(3, 3\)"),
        ([0.0, 0.0], [[1.0, np.inf], [0.0, 1.0]], "covariance must be finite, got inf in row 0, column 1"),
        ([0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]], r"symmetric, got 0\.5 and 0\.4 for the entries 0 and 1"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "covariance must be positive definite"),
    ],
)
def test_bad_arguments_are_refused_by_name(mean: npt.ArrayLike, covariance: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Gaussian(mean, covariance)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a_position_without_a_finite_potential_is_a_numerical_error(target: Gaussian, bad: float) -> None:
    q = np.full(DIM, bad)
    for evaluate in (target.value, target.value_and_grad):
        with pytest.raises(NumericalError, match="Gaussian"):
            evaluate(q)
    if not np.isfinite(bad):
        with pytest.raises(NumericalError, match="gradient of the Gaussian"):
            target.gradient(q)
