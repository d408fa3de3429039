"""Riemannian manifold Hamiltonian Monte Carlo with any driver: one kernel for RMHMC and RNS-RMHMC."""

from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

import numpy as np

from rnshmc.dynamics.generalised_leapfrog import FixedIterations, FixedPoint, Point, generalised_leapfrog, point
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.transition import (
    TransitionInfo,
    check_dynamics,
    evaluated_start,
    metropolis,
    solver_failure,
)
from rnshmc.types import Array, Potential, RiemannianDriver


class RiemannianState(NamedTuple):
    """A position with all evaluations there, so that none is repeated."""

    q: Array
    potential: float
    """U(q) of the potential that decides."""
    point: Point
    """Force and metric of the driver."""


@dataclass(frozen=True, eq=False)
class RMHMC:
    """One potential decides, one drives and defines the metric (paper A, section 2.2 and the end of 3.4).

    The driver's metric G draws the momentum, p ~ N(0, G(q)), moves the trajectory, and enters the Hamiltonian of the
    Metropolis step with log|G|; the potential there is the exact one:

        H(q, p) = U(q) + log|G(q)| / 2 + p' G(q)^-1 p / 2

    So the exact posterior is invariant for any metric and force of the driver, as long as its ``metric_vjp`` is the
    derivative of its ``metric``, which makes the map volume-preserving. Raises `ParameterError` if a setting is out of
    range, driver and potential differ in dimension, or the driver has no metric.
    """

    potential: Potential
    """Decides: the exact potential, used in the Metropolis step."""
    driver: RiemannianDriver
    """Drives: its gradient and metric move the trajectory. ``potential`` itself gives RMHMC, the Riemannian view of a
    surrogate RNS-RMHMC."""
    _: KW_ONLY
    step_size: float
    """Step of the generalised leapfrog, > 0."""
    n_steps: tuple[int, int]
    """The number of steps is drawn uniformly from {low, ..., high} at each transition; (L, L) keeps it fixed, as in
    paper A."""
    max_iterations: int = 30
    tolerance: float = 1e-4
    """Solver of the implicit equations: `rnshmc.dynamics.generalised_leapfrog.FixedPoint`. The default tolerance is a
    ten thousandth of a local standard deviation."""
    fixed_point_iterations: int | None = None
    """Iterate this many times instead, without a check or a step back, as the published implementation does. The chain
    is then not exact: use it only to compare times with printed ones."""
    _fixed_point: FixedPoint | FixedIterations = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_dynamics(self.potential, self.driver, step_size=self.step_size, n_steps=self.n_steps)
        if not isinstance(self.driver, RiemannianDriver):
            raise ParameterError(f"driver: {type(self.driver).__name__} has no metric, which RMHMC needs")
        fixed_point = (
            FixedPoint(self.max_iterations, self.tolerance)
            if self.fixed_point_iterations is None
            else FixedIterations(self.fixed_point_iterations)
        )
        object.__setattr__(self, "_fixed_point", fixed_point)

    def init(self, q: Array) -> RiemannianState:
        """The state at ``q``, shape (dim,).

        Raises `ParameterError` if ``q`` has the wrong shape, or potential, force or metric cannot be evaluated: a chain
        cannot start there.
        """

        def evaluate(q: Array) -> tuple[float, Array, Point]:
            potential, there = self.potential.value(q), point(self.driver, q)
            return potential, there.force, there

        q, potential, _, there = evaluated_start(q, self.potential.dim, evaluate)
        return RiemannianState(q, potential, there)

    def step(self, rng: np.random.Generator, state: RiemannianState) -> tuple[RiemannianState, TransitionInfo]:
        """One transition. The same number of random draws is used whether it is accepted, rejected or fails."""
        n_steps = int(rng.integers(*self.n_steps, endpoint=True))
        momentum = state.point.metric.sample_momentum(rng, state.q.size)
        uniform = rng.uniform()
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                end, p = generalised_leapfrog(
                    state.point,
                    momentum,
                    driver=self.driver,
                    step_size=self.step_size,
                    n_steps=n_steps,
                    fixed_point=self._fixed_point,
                )
                potential = self.potential.value(end.q)
                delta_h = (potential - state.potential) + _kinetic_energy(end, p)
                delta_h -= _kinetic_energy(state.point, momentum)
        except NumericalError:
            return state, solver_failure(n_steps)
        info = metropolis(uniform, delta_h, n_steps)
        return (RiemannianState(end.q, potential, end) if info.accepted else state), info


def _kinetic_energy(at: Point, p: Array) -> float:
    """-log of the density of p ~ N(0, G(q)), up to a constant: log|G| / 2 + p' G^-1 p / 2."""
    return 0.5 * at.metric.log_det + at.metric.kinetic_energy(p)
