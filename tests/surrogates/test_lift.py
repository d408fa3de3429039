import math

import numpy as np
import pytest
from scipy.special import roots_legendre

from rnshmc.surrogates.softabs import lift, lift_differences, lift_slope

EPS = float(np.finfo(np.float64).eps)
SOFTNESS = 0.5

pytestmark = pytest.mark.filterwarnings("error")


def test_the_lift_makes_softabs_of_the_identity() -> None:
    x = np.array([-30.0, -4.0, -0.3, -1e-3, 1e-3, 0.3, 4.0, 30.0])
    assert x + lift(x, SOFTNESS) == pytest.approx(x / np.tanh(x / SOFTNESS), rel=100 * EPS)
    assert lift(np.zeros(1), SOFTNESS)[0] == SOFTNESS


def test_it_is_nothing_far_above_the_softness_and_a_reflection_far_below() -> None:
    x = SOFTNESS * np.array([20.0, 1e3, 1e200])
    assert np.array_equal(x + lift(x, SOFTNESS), x)
    assert np.array_equal(-x + lift(-x, SOFTNESS), x)
    assert lift_slope(x, SOFTNESS) == pytest.approx(0.0, abs=10 * EPS)
    assert lift_slope(-x, SOFTNESS) == pytest.approx(-2.0, abs=10 * EPS)


@pytest.mark.parametrize("x", [-3.0, -0.1, -0.02, 0.0, 1e-9, 0.02, 0.024999, 0.025001, 0.3, 3.0])
def test_slope_is_the_derivative_of_the_lift(x: float) -> None:
    """Against an integral of the lift around x in the complex plane, which does not cancel: it is analytic there."""
    radius = 0.5 * SOFTNESS
    angles = 2 * math.pi * np.arange(64) / 64
    z = x + radius * np.exp(1j * angles)
    values = 2 * z / (np.exp(2 * z / SOFTNESS) - 1)
    # Cauchy's formula by the trapezoidal rule: its error is (radius / distance of the poles)^64, below 1e-45.
    exact = np.mean(values * np.exp(-1j * angles)).real / radius
    assert lift_slope(np.array([x]), SOFTNESS)[0] == pytest.approx(exact, abs=1e3 * EPS * (1 + abs(x)))


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-9, 1e-4, 0.0249, 0.0251, 0.3, 10.0])
@pytest.mark.parametrize("x", [-5.0, -0.3, 0.0, 0.02, 0.7, 10.0])
def test_divided_differences_are_the_mean_slope_between_two_points(x: float, gap: float) -> None:
    nodes, weights = roots_legendre(40)
    mean_slope = 0.5 * weights @ lift_slope(x + 0.5 * gap * (nodes + 1), SOFTNESS)
    differences = lift_differences(np.array([x, x + gap]), SOFTNESS)
    assert differences[0, 1] == pytest.approx(mean_slope, abs=1e3 * EPS * (1 + abs(x)))
    assert differences[1, 0] == pytest.approx(differences[0, 1], rel=10 * EPS)
    assert np.diag(differences) == pytest.approx(lift_slope(np.array([x, x + gap]), SOFTNESS), abs=10 * EPS)
