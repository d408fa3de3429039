from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.twisted_gaussian import TwistedGaussian
from rnshmc.types import Array, Potential
from tests.conftest import z_bound

SETTINGS = {"scale1": 10.0, "scale2": 4.0, "bend": 0.1}
POSITIONS = [np.array([-1.0, 1.5]), np.array([0.3, -0.2]), np.zeros(2)]

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def target() -> TwistedGaussian:
    return TwistedGaussian(**SETTINGS)


def test_it_is_a_potential(target: TwistedGaussian) -> None:
    assert isinstance(target, Potential)
    assert target.dim == 2


@pytest.mark.parametrize("q", POSITIONS)
def test_value_is_that_of_equation_23(target: TwistedGaussian, q: Array) -> None:
    a, c, b = (SETTINGS[name] for name in ("scale1", "scale2", "bend"))
    expected = (a * q[0]) ** 2 / 200 + (c * q[1] + b * (a * q[0]) ** 2 - 100 * b) ** 2 / 2
    assert target.value(q) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("q", POSITIONS)
def test_gradient_is_the_slope_of_the_value(
    target: TwistedGaussian, q: Array, assert_slope: Callable[..., None]
) -> None:
    for direction in (np.array([1.0, 0.0]), np.array([0.6, -0.8])):
        assert_slope(target.value, target.gradient(q) @ direction, q, direction)


def test_value_and_grad_is_value_and_gradient(target: TwistedGaussian) -> None:
    value, gradient = target.value_and_grad(POSITIONS[0])
    assert value == target.value(POSITIONS[0])
    np.testing.assert_array_equal(gradient, target.gradient(POSITIONS[0]))


def test_distribution_is_symmetric_in_the_first_coordinate(target: TwistedGaussian) -> None:
    for q in POSITIONS:
        assert target.value(q) == target.value(q * [-1.0, 1.0])


def test_without_a_bend_it_is_a_gaussian() -> None:
    target = TwistedGaussian(scale1=10.0, scale2=4.0, bend=0.0)
    for q in POSITIONS:
        assert target.gradient(q) == pytest.approx(q * [100 / 100, 16.0], rel=1e-14)


def test_draws_follow_the_density(target: TwistedGaussian) -> None:
    """E[grad U] = 0, E[q_j dU/dq_i] = delta_ij and E[U] = 1 for draws of exp(-U), within Monte Carlo error."""
    draws = target.sample(stream(3, "tests", "twisted Gaussian"), 20000)
    gradients = np.array([target.gradient(q) for q in draws])
    values = np.array([target.value(q) for q in draws])
    products = draws[:, :, None] * gradients[:, None, :] - np.eye(2)
    features = np.column_stack((gradients, products.reshape(-1, 4), values - 1.0))
    z = features.mean(axis=0) / (features.std(axis=0) / np.sqrt(len(draws)))
    assert np.abs(z).max() < z_bound(len(z))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_position_that_is_too_far_away_is_a_numerical_error(target: TwistedGaussian, bad: float) -> None:
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(NumericalError, match="twisted Gaussian"):
            evaluate(np.array([bad, 0.0]))


@pytest.mark.parametrize(
    ("name", "bad"), [("scale1", 0.0), ("scale1", np.inf), ("scale2", -1.0), ("scale2", np.nan), ("bend", np.inf)]
)
def test_settings_out_of_range_are_named(name: str, bad: float) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be .* got {bad}"):
        TwistedGaussian(**{**SETTINGS, name: bad})
