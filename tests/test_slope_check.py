"""The slope test that other tests use fails on a slope or a function that is wrong."""

import numpy as np
import pytest

from rnshmc.types import Array
from tests.conftest import check_slope

Q, DIRECTION = np.array([0.3, -0.2]), np.array([0.6, 0.8])


def cubic(q: Array) -> float:
    return float(q[0] ** 3 + q[0] * q[1])


def gradient(q: Array) -> Array:
    return np.array([3 * q[0] ** 2 + q[1], q[0]])


SLOPE = float(gradient(Q) @ DIRECTION)


def test_a_right_slope_passes() -> None:
    check_slope(cubic, SLOPE, Q, DIRECTION)
    check_slope(gradient, np.array([[1.8, 1.0], [1.0, 0.0]]) @ DIRECTION, Q, DIRECTION)


@pytest.mark.parametrize("error", [1e-2, -1e-2, 1e-6, -1.0])
def test_a_wrong_slope_fails(error: float) -> None:
    with pytest.raises(AssertionError, match="falls with order"):
        check_slope(cubic, SLOPE * (1 + error), Q, DIRECTION)


@pytest.mark.parametrize("slope", [np.nan, np.inf, -np.inf])
def test_a_slope_that_is_not_finite_fails(slope: float) -> None:
    with pytest.raises(AssertionError, match="the slope is"):
        check_slope(cubic, slope, Q, DIRECTION)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("beyond", [-np.inf, 0.5], ids=["everywhere", "far out"])
def test_a_function_that_is_not_finite_fails(value: float, beyond: float) -> None:
    """Everywhere, and only at the largest step."""
    with pytest.raises(AssertionError, match="the function is"):
        check_slope(lambda q: value if q[0] > beyond else cubic(q), SLOPE, Q, DIRECTION)


def test_one_component_that_is_not_finite_fails() -> None:
    with pytest.raises(AssertionError, match="the slope is"):
        check_slope(gradient, np.array([np.nan, DIRECTION[0]]), Q, DIRECTION)


def test_a_number_is_no_slope_of_a_vector() -> None:
    """It would be subtracted from each component."""
    with pytest.raises(AssertionError, match="shape"):
        check_slope(lambda q: np.array([q[0], q[0]]), DIRECTION[0], Q, DIRECTION)


@pytest.mark.parametrize("relative_error", [np.nan, np.inf, 1.0])
def test_a_round_off_that_hides_every_error_fails(relative_error: float) -> None:
    with pytest.raises(AssertionError, match="visible"):
        check_slope(cubic, 2 * SLOPE, Q, DIRECTION, relative_error=relative_error)
