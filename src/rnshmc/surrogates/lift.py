"""The increment of the SoftAbs map, its slope and divided differences, without cancellation.

The map x coth(x / a) of Betancourt (2013) is x + lift(x) with lift(x) = 2 x / (exp(2 x / a) - 1) = a B(2 x / a), where
B(t) = t / (exp(t) - 1) generates the Bernoulli numbers. The lift decreases from -2 x for very negative x, through a at
0, to zero for x far above a.
"""

import numpy as np

from rnshmc.types import Array

# Below |t| = 0.1 the series' next term, 2e-7 t^9, is negligible in doubles; above, the closed form loses one digit.
_SMALL = 0.1
_GAUSS_NODES = np.sqrt(3 / 5) * np.array([-1.0, 0.0, 1.0])
_GAUSS_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


def lift(x: Array, softness: float) -> Array:
    """x coth(x / softness) - x, elementwise: positive, and ``softness`` at x = 0."""
    return softness * _bernoulli(2.0 * x / softness)


def lift_slope(x: Array, softness: float) -> Array:
    """Derivative of the lift, elementwise: from -2 for very negative x, through -1 at 0, to 0."""
    return 2.0 * _bernoulli_slope(2.0 * x / softness)


def lift_differences(x: Array, softness: float) -> Array:
    """Divided differences (lift(x_j) - lift(x_k)) / (x_j - x_k) for x of shape (d,), shape (d, d).

    If x_j and x_k are so close that the quotient would lose digits, the difference is the mean slope between them by
    three-point Gauss quadrature, whose error is of the order of rounding there.
    """
    t = 2.0 * x / softness
    values = _bernoulli(t)
    gap, middle = t[:, np.newaxis] - t, 0.5 * (t[:, np.newaxis] + t)
    near = np.abs(gap) < _SMALL
    differences: Array = (values[:, np.newaxis] - values) / np.where(near, 1.0, gap)
    nodes = middle[near] + 0.5 * _GAUSS_NODES[:, np.newaxis] * gap[near]
    differences[near] = _GAUSS_WEIGHTS @ _bernoulli_slope(nodes)
    return 2.0 * differences


def _bernoulli(t: Array) -> Array:
    """B(t) = t / (exp(t) - 1), 1 at t = 0."""
    with np.errstate(over="ignore"):
        return np.where(t == 0.0, 1.0, t / np.expm1(np.where(t == 0.0, 1.0, t)))


def _bernoulli_slope(t: Array) -> Array:
    """B'(t) = (1 - B(-t)) / (exp(t) - 1), -1/2 at t = 0."""
    small = np.abs(t) < _SMALL
    square = np.where(small, t, 0.0) ** 2
    series = -1 / 2 + t * (1 / 6 + square * (-1 / 180 + square * (1 / 5040 - square / 151200)))
    with np.errstate(over="ignore"):
        closed = (1.0 - _bernoulli(-t)) / np.expm1(np.where(small, 1.0, t))
    return np.where(small, series, closed)
