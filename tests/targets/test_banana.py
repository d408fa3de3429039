from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.banana import Banana, banana_data
from rnshmc.types import Array, Potential, RiemannianDriver
from tests.conftest import FAILURE

NOISE_SD, PRIOR_SD = 2.0, 1.5
POSITIONS = [np.array([-1.0, 1.5]), np.array([0.3, -0.2]), np.zeros(2)]

pytestmark = pytest.mark.filterwarnings("error")


def observations() -> Array:
    return banana_data(stream(5, "tests", "banana"), 100, mean=1.0, sd=NOISE_SD)


@pytest.fixture
def target() -> Banana:
    return Banana(observations(), NOISE_SD, PRIOR_SD)


def test_it_is_a_potential_and_has_a_metric(target: Banana) -> None:
    assert isinstance(target, Potential)
    assert isinstance(target, RiemannianDriver)
    assert target.dim == 2


def test_value_is_the_negative_log_posterior_up_to_a_constant(target: Banana) -> None:
    def log_posterior(q: Array) -> float:
        likelihood = stats.norm(q[0] + q[1] ** 2, NOISE_SD).logpdf(observations()).sum()
        return float(likelihood + stats.norm(0.0, PRIOR_SD).logpdf(q).sum())

    constant = target.value(POSITIONS[0]) + log_posterior(POSITIONS[0])
    for q in stream(5, "tests", "positions").standard_normal((20, 2)):
        assert target.value(q) + log_posterior(q) == pytest.approx(constant, rel=1e-12)


def test_posterior_is_symmetric_in_the_second_parameter(target: Banana) -> None:
    for q in POSITIONS:
        assert target.value(q) == target.value(q * [1.0, -1.0])


@pytest.mark.parametrize("q", POSITIONS)
def test_gradient_is_the_slope_of_the_value(target: Banana, q: Array, assert_slope: Callable[..., None]) -> None:
    for direction in (np.array([1.0, 0.0]), np.array([0.6, -0.8])):
        assert_slope(target.value, target.gradient(q) @ direction, q, direction)


@pytest.mark.parametrize("q", POSITIONS)
def test_metric_is_the_mean_hessian_over_data_from_that_position(q: Array, assert_slope: Callable[..., None]) -> None:
    # The gradient is linear in the mean of the data, so data at their expectation give the expected gradient's slope.
    at_expectation = Banana(np.full(100, q[0] + q[1] ** 2), NOISE_SD, PRIOR_SD)
    for direction in np.eye(2):
        assert_slope(at_expectation.gradient, at_expectation.metric(q) @ direction, q, direction)
    assert np.linalg.eigvalsh(at_expectation.metric(q)).min() > 0.99 / PRIOR_SD**2


@pytest.mark.parametrize("q", POSITIONS)
@pytest.mark.parametrize("rank", [1, 2])
def test_metric_vjp_is_the_slope_of_the_contracted_metric(
    target: Banana, q: Array, rank: int, assert_slope: Callable[..., None]
) -> None:
    factor = stream(5, "tests", "factor").standard_normal((2, rank))
    weights = factor @ factor.T
    for direction in np.eye(2):
        assert_slope(
            lambda x: float(np.sum(weights * target.metric(x))), target.metric_vjp(q, factor) @ direction, q, direction
        )


def test_value_and_grad_are_value_and_gradient(target: Banana) -> None:
    value, gradient = target.value_and_grad(POSITIONS[0])
    assert value == target.value(POSITIONS[0])
    assert gradient.tobytes() == target.gradient(POSITIONS[0]).tobytes()


def test_observations_have_the_stated_law() -> None:
    y = banana_data(stream(5, "tests", "law"), 5000, mean=1.0, sd=2.0)
    assert y.shape == (5000,)
    assert stats.kstest(y, stats.norm(1.0, 2.0).cdf).pvalue > FAILURE


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], r"observations must be a vector .* got shape \(0,\)"),
        ([[1.0]], r"observations must be a vector .* got shape \(1, 1\)"),
        ([1.0, np.inf], "observations must be finite, got inf in entry 1"),
    ],
)
def test_bad_observations_are_refused_by_name(y: npt.ArrayLike, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Banana(y, NOISE_SD, PRIOR_SD)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_standard_deviations_out_of_range_are_refused_by_name(bad: float) -> None:
    with pytest.raises(ParameterError, match=f"noise_sd must be a positive number, got {bad}"):
        Banana([1.0], bad, PRIOR_SD)
    with pytest.raises(ParameterError, match=f"prior_sd must be a positive number, got {bad}"):
        Banana([1.0], NOISE_SD, bad)
    with pytest.raises(ParameterError, match=f"sd must be a positive number, got {bad}"):
        banana_data(stream(5), 10, mean=1.0, sd=bad)


def test_bad_settings_of_the_simulation_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="n must be at least 1, got 0"):
        banana_data(stream(5), 0, mean=1.0, sd=2.0)
    with pytest.raises(ParameterError, match="mean must be a finite number, got nan"):
        banana_data(stream(5), 10, mean=np.nan, sd=2.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_position_that_cannot_be_evaluated_is_a_numerical_error(target: Banana, bad: float) -> None:
    q, factor = np.array([0.0, bad]), np.eye(2)
    for evaluate in (target.value, target.gradient, target.value_and_grad, target.metric):
        with pytest.raises(NumericalError, match="banana"):
            evaluate(q)
    if not np.isfinite(bad):
        with pytest.raises(NumericalError, match="banana"):
            target.metric_vjp(q, factor)
