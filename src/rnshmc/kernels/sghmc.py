"""Stochastic gradient HMC: gradients of mini-batches drive, without and with a Metropolis correction.

Paper B, section 4.4; Chen, Fox and Guestrin, Stochastic gradient Hamiltonian Monte Carlo, ICML 2014.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.hmc import HMC
from rnshmc.kernels.transition import (
    State,
    TransitionInfo,
    check_dynamics,
    evaluated_start,
    solver_failure,
)
from rnshmc.types import Array, Driver, MinibatchDriver, Potential


class LangevinState(NamedTuple):
    """Position and momentum: without a correction, the momentum is kept between transitions."""

    q: Array
    potential: float
    """U(q) at the start of the chain, NaN afterwards, when it is not evaluated."""
    momentum: Array


@dataclass(frozen=True, eq=False)
class _MinibatchHMC:
    """The settings of both kernels and their checks."""

    potential: Potential
    driver: MinibatchDriver
    _: KW_ONLY
    step_size: float
    n_steps: tuple[int, int]
    batch_size: int
    scaled: bool = True

    def __post_init__(self) -> None:
        check_dynamics(self.potential, self.driver, step_size=self.step_size, n_steps=self.n_steps)
        if not isinstance(self.driver, MinibatchDriver):
            name = type(self.driver).__name__
            raise ParameterError(f"driver: {name} has no mini-batches, which stochastic gradients need")
        if self.batch_size < 1:
            raise ParameterError(f"batch_size: expected at least 1, got {self.batch_size}")
        # Report an impossible batch size now, not when a chain first draws one.
        self._batch(np.random.default_rng(0))

    def _batch(self, rng: np.random.Generator) -> Driver:
        return self.driver.minibatch(rng, self.batch_size, scaled=self.scaled)


@dataclass(frozen=True, eq=False)
class SGHMC(_MinibatchHMC):
    """HMC with friction and with gradients of mini-batches, without a correction (paper B, eqs. 28 and 29, M = I).

    With a new mini-batch at each step (Chen, Fox and Guestrin, Algorithm 2, with their estimate of its noise set to 0),

        q <- q + eps p
        p <- (1 - eps C) p - eps g(q) + N(0, 2 C eps I),  E g = grad U.

    The chain only approximates the posterior: its stationary distribution has a discretisation error and is heated by
    the noise of the mini-batches. Both errors vanish with eps. The learning rate of Chen, Fox and Guestrin is eps^2
    here, and their momentum decay is eps C. Raises `ParameterError` if a setting is out of range, driver and potential
    differ in dimension, or the driver has no mini-batches, or none of that size.

    Parameters
    ----------
    potential
        Evaluated only at the start of a chain.
    driver
        Drives, through its mini-batches.
    step_size
        eps, > 0.
    n_steps
        The number of steps of a transition is drawn uniformly from {low, ..., high}.
    batch_size
        Observations of a mini-batch.
    friction
        C, > 0, with eps C < 1.
    scaled
        Whether to multiply the sum over a mini-batch of n of N observations by N / n. If not, as in the published
        implementation, E g is the gradient of (n / N) L + P for U = L + P with the prior's P: as the steps become
        small, the chain samples the posterior with the likelihood raised to the power n / N.
    """

    _: KW_ONLY
    friction: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.step_size * self.friction < 1:
            raise ParameterError(
                f"friction: expected 0 < step_size * friction < 1, got {self.step_size} * {self.friction}"
            )

    def init(self, q: Array) -> LangevinState:
        """The state at ``q``, shape (dim,), at rest.

        Raises `ParameterError` if ``q`` has the wrong shape or U(q) is not finite: a chain cannot start there.
        """
        at_rest = evaluated_start(q, self.potential.dim, lambda q: (self.potential.value(q), np.zeros_like(q)))
        return LangevinState(*at_rest)

    def step(self, rng: np.random.Generator, state: LangevinState) -> tuple[LangevinState, TransitionInfo]:
        """One transition, always accepted unless a gradient fails or the position is no longer finite."""
        n_steps = int(rng.integers(*self.n_steps, endpoint=True))
        decay, noise_sd = 1.0 - self.step_size * self.friction, math.sqrt(2.0 * self.friction * self.step_size)
        q, p = state.q, state.momentum
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                for _ in range(n_steps):
                    q = q + self.step_size * p
                    gradient = self._batch(rng).gradient(q)
                    noise = noise_sd * rng.standard_normal(q.size)
                    p = decay * p - self.step_size * gradient + noise
        except NumericalError:
            return state, solver_failure(n_steps)
        finite = bool(np.isfinite(q).all() and np.isfinite(p).all())
        info = TransitionInfo(
            finite, float(finite), math.nan, diverging=not finite, solver_failed=False, n_steps=n_steps
        )
        return (LangevinState(q, math.nan, p) if finite else state), info


@dataclass(frozen=True, eq=False)
class CorrectedSGHMC(_MinibatchHMC):
    """HMC driven by the gradient of one mini-batch, drawn anew for each trajectory (paper B, section 4.4).

    Paper B corrects SGHMC by a Metropolis step without stating when the mini-batches are drawn. Here one is drawn
    before the trajectory, independently of the state, and kept to its end. So this is `HMC` with a random driver: each
    driver leaves the posterior invariant (paper B, Theorem 1), so their mixture does. A new mini-batch for each
    gradient would also be exact, since the reverse order is equally likely, but needs one for each step. There is no
    friction: with it, the Metropolis step would need the density of the noise. Raises `ParameterError` if a setting is
    out of range, driver and potential differ in dimension, or the driver has no mini-batches, or none of that size.

    Parameters
    ----------
    potential
        Decides: the exact potential, with all data.
    driver, step_size, n_steps, batch_size
        As in `SGHMC`.
    scaled
        As in `SGHMC`. If not, the force is a small fraction of the true one and trajectories are almost straight; the
        Metropolis step still leaves the posterior invariant.
    """

    def init(self, q: Array) -> State:
        """The state at ``q``, shape (dim,); see `HMC.init`. Its gradient, of all data, is not used."""
        return HMC(self.potential, self.potential, step_size=self.step_size, n_steps=self.n_steps).init(q)

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        """One transition: a mini-batch, then a step of `HMC` with it."""
        batch = self._batch(rng)
        hmc = HMC(self.potential, batch, step_size=self.step_size, n_steps=self.n_steps)
        try:
            gradient = batch.gradient(state.q)
        except NumericalError:
            return state, solver_failure(0)
        return hmc.step(rng, state._replace(gradient=gradient))
