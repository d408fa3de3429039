"""The generalised leapfrog integrator for non-separable Hamiltonians (paper A, eqs. 7 to 9)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnshmc.dynamics.metrics import LocalMetric, local_metric
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array, RiemannianDriver

REVERSED = 0.01
"""Maximum distance between the start of a step and the end of the step back, in units of the local metric. It exceeds
the tolerance of the implicit equations, but is small enough to detect another solution of them."""


class Point(NamedTuple):
    """A position and the geometry evaluated there."""

    q: Array
    force: Array
    """Gradient of phi(q) = U(q) + log det G(q) / 2, U the driver's potential (paper A, eq. 5)."""
    metric: LocalMetric
    """G(q), factorised."""


def point(driver: RiemannianDriver, q: Array) -> Point:
    """Evaluate the driver's force and metric at ``q``.

    Raises `NumericalError` if they cannot be evaluated, or the metric is not positive definite.
    """
    metric = local_metric(driver.metric(q))
    # tr(G^-1 dG/dq_i), by one contraction of the metric's derivative with G^-1.
    trace = driver.metric_vjp(q, metric.inverse_factor)
    return Point(q, driver.gradient(q) + 0.5 * trace, metric)


@dataclass(frozen=True)
class FixedPoint:
    """Fixed-point solver of the implicit equations (7) and (8): x <- g(x) until x moves by less than a tolerance.

    A solution that takes more iterations is a failure; paper A iterated 5 times whatever came out. The tolerance is in
    standard deviations of a Gaussian with the local metric as its precision. Raises `ParameterError` if one of them is
    not positive.
    """

    max_iterations: int
    tolerance: float

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ParameterError(f"max_iterations: expected at least 1, got {self.max_iterations}")
        if not (math.isfinite(self.tolerance) and self.tolerance > 0):
            raise ParameterError(f"tolerance: expected a positive number, got {self.tolerance}")

    def solve(self, g: Callable[[Array], Array], x: Array, length: Callable[[Array], float]) -> Array:
        """Solve x = g(x), starting from ``x``.

        Raises `NumericalError` if the iteration has not settled after ``max_iterations``.
        """
        for _ in range(self.max_iterations):
            previous, x = x, g(x)
            change = length(x - previous)
            if change <= self.tolerance:
                return x
            if not math.isfinite(change):
                break
        raise NumericalError(
            f"fixed point: moved by {change:.3g} in the last of at most {self.max_iterations} iterations"
        )


@dataclass(frozen=True)
class FixedIterations:
    """A fixed number of iterations x <- g(x), as in paper A's implementation.

    What it gives is no solution, and its map neither reverses nor keeps volume: it serves to measure seconds. Raises
    `ParameterError` if it is not positive.
    """

    iterations: int

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ParameterError(f"fixed_point_iterations: expected at least 1, got {self.iterations}")

    def solve(self, g: Callable[[Array], Array], x: Array, length: Callable[[Array], float]) -> Array:  # noqa: ARG002
        """The last iterate from ``x``."""
        for _ in range(self.iterations):
            x = g(x)
        return x


def generalised_leapfrog(
    start: Point,
    p: Array,
    *,
    driver: RiemannianDriver,
    step_size: float,
    n_steps: int,
    fixed_point: FixedPoint | FixedIterations,
) -> tuple[Point, Array]:
    """Integrate dq/dt = G^-1 p, dp/dt = -grad phi + v(q, p) / 2 (paper A, eq. 6).

    Each step is also run back from where it ended, just as a trajectory from there would run. One that does not return
    is a failure, so that the map, where it does not fail, is reversible and keeps volume. With `FixedIterations` no
    step is run back. Returns the end of the trajectory, and the momentum there. Positions and momenta have shape
    (dim,). ``step_size`` and ``n_steps`` are the paper's epsilon and L. Raises `NumericalError` if an implicit equation
    has no solution that is found, a step does not reverse, or the driver fails.
    """
    for _ in range(n_steps):
        half, q = _solved(start, p, driver, step_size, fixed_point)
        end = point(driver, q)
        p = half - 0.5 * step_size * _momentum_force(end, half, driver)

        if isinstance(fixed_point, FixedPoint):
            momentum, q = _solved(end, -p, driver, step_size, fixed_point)
            error = max(_momentum_length(end, momentum + half), end.metric.length(q - start.q))
            if not error <= REVERSED:
                raise NumericalError(
                    f"generalised leapfrog: the step back ends {error:.3g} from where the step started"
                )
        start = end
    return start, p


def _solved(
    start: Point, p: Array, driver: RiemannianDriver, step_size: float, fixed_point: FixedPoint | FixedIterations
) -> tuple[Array, Array]:
    """Momentum after half a step and position after the step, the solutions of eqs. (7) and (8)."""

    def kick(half: Array) -> Array:
        return p - 0.5 * step_size * _momentum_force(start, half, driver)

    half = fixed_point.solve(kick, p, lambda change: _momentum_length(start, change))
    velocity = start.metric.velocity(half)

    def drift(q: Array) -> Array:
        there = local_metric(driver.metric(q)).velocity(half)
        return start.q + 0.5 * step_size * (velocity + there)

    # The first iterate of `drift` needs only the metric at the start of the step.
    return half, fixed_point.solve(drift, start.q + step_size * velocity, start.metric.length)


def _momentum_length(at: Point, p: Array) -> float:
    """Length of a momentum in units of the metric at a point; not finite if it diverges."""
    return float(np.sqrt(2.0 * at.metric.kinetic_energy(p)))


def _momentum_force(at: Point, p: Array, driver: RiemannianDriver) -> Array:
    """grad phi - v(q, p) / 2 with v_i = (G^-1 p)' dG/dq_i (G^-1 p)."""
    velocity = at.metric.velocity(p)
    force: Array = at.force - 0.5 * driver.metric_vjp(at.q, velocity[:, np.newaxis])
    return force
