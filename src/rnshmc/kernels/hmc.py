"""Hamiltonian Monte Carlo with any driver: one kernel for HMC, RNS-HMC, GP-HMC and FITC-HMC."""

from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from rnshmc.dynamics.leapfrog import leapfrog
from rnshmc.dynamics.metrics import IdentityMetric, Metric
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.transition import (
    State,
    TransitionInfo,
    check_dynamics,
    evaluated_start,
    metropolis,
    solver_failure,
)
from rnshmc.types import Array, Driver, Potential


@dataclass(frozen=True, eq=False)
class HMC:
    """One potential decides, one drives (paper A, Algorithms 1 and 3).

    The leapfrog map is reversible and volume-preserving for any force, so the Metropolis step with the exact
    Hamiltonian leaves the exact posterior invariant for any driver (paper A, appendix 1). It only affects the
    acceptance. Raises `ParameterError` if a setting is out of range, or driver and potential differ in dimension.
    """

    potential: Potential
    """Decides: the exact potential, used in the Metropolis step."""
    driver: Driver
    """Drives: its gradient moves the trajectory. ``potential`` itself gives standard HMC."""
    _: KW_ONLY
    step_size: float
    """Leapfrog step, > 0."""
    n_steps: tuple[int, int]
    """The number of steps is drawn uniformly from {low, ..., high} at each transition, so that no trajectory length
    resonates with the target (Neal 2011). (L, L) keeps it fixed."""
    metric: Metric = field(default_factory=IdentityMetric)
    """Metric of the kinetic energy."""
    gradients_per_step: int = 1
    """Evaluations of the driving gradient in each leapfrog step, >= 1. Extra evaluations do not change the draws. The
    published implementations evaluate it at both ends of each step, so twice where two steps meet; comparisons with
    printed speed-ups need that baseline."""

    def __post_init__(self) -> None:
        check_dynamics(self.potential, self.driver, step_size=self.step_size, n_steps=self.n_steps)
        if self.gradients_per_step < 1:
            raise ParameterError(f"gradients_per_step: expected at least 1, got {self.gradients_per_step}")

    def init(self, q: Array) -> State:
        """The state at ``q``, shape (dim,).

        Raises `ParameterError` if ``q`` has the wrong shape or U(q) is not finite: a chain cannot start there.
        """
        return State(*evaluated_start(q, self.potential.dim, self._decide_and_drive))

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        """One transition. The same number of random draws is used whether it is accepted, rejected or fails."""
        n_steps = int(rng.integers(*self.n_steps, endpoint=True))
        momentum = self.metric.sample_momentum(rng, state.q.size)
        uniform = rng.uniform()
        try:
            # A trajectory that runs off to infinity is counted as a divergence; a warning would be noise.
            with np.errstate(over="ignore", invalid="ignore"):
                end = leapfrog(
                    state.q,
                    momentum,
                    state.gradient,
                    step_size=self.step_size,
                    n_steps=n_steps,
                    metric=self.metric,
                    force=self._drive,
                    at_end=self._decide_and_drive,
                )
                kinetic = self.metric.kinetic_energy(end.p) - self.metric.kinetic_energy(momentum)
        except NumericalError:
            return state, solver_failure(n_steps)
        delta_h = (end.potential - state.potential) + kinetic
        info = metropolis(uniform, delta_h, n_steps)
        return (State(end.q, end.potential, end.gradient) if info.accepted else state), info

    def _decide_and_drive(self, q: Array) -> tuple[float, Array]:
        """Exact potential and driving gradient at ``q``; one evaluation when they are the same function."""
        self._repeat(q)
        if self.driver is self.potential:
            return self.potential.value_and_grad(q)
        return self.potential.value(q), self.driver.gradient(q)

    def _drive(self, q: Array) -> Array:
        self._repeat(q)
        return self.driver.gradient(q)

    def _repeat(self, q: Array) -> None:
        """Evaluate the driving gradient `gradients_per_step` - 1 extra times."""
        for _ in range(self.gradients_per_step - 1):
            self.driver.gradient(q)
