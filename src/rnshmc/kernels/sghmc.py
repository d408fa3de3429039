"""Stochastic gradient HMC: gradients of mini-batches drive, without and with a Metropolis correction.

Paper B, section 4.4; Chen, Fox and Guestrin, Stochastic gradient Hamiltonian Monte Carlo, ICML 2014.
"""

import math
from typing import NamedTuple

import numpy as np

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.hmc import HMC
from rnshmc.kernels.transition import (
    State,
    TransitionInfo,
    check_dynamics,
    check_finite_start,
    evaluated_start,
    solver_failure,
)
from rnshmc.types import Array, MinibatchDriver, Potential


class LangevinState(NamedTuple):
    """Position and momentum: without a correction, the momentum is kept between transitions."""

    q: Array
    potential: float
    """U(q) at the start of the chain, NaN afterwards, when it is not evaluated."""
    momentum: Array


class SGHMC:
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

    def __init__(
        self,
        potential: Potential,
        driver: MinibatchDriver,
        *,
        step_size: float,
        n_steps: tuple[int, int],
        batch_size: int,
        friction: float,
        scaled: bool = True,
    ) -> None:
        check_dynamics(potential, driver, step_size=step_size, n_steps=n_steps)
        _check_minibatches(driver, batch_size)
        if not 0 < step_size * friction < 1:
            raise ParameterError(f"friction: expected 0 < step_size * friction < 1, got {step_size} * {friction}")
        self._potential = potential
        self._driver = driver
        self._step_size = float(step_size)
        self._n_steps = n_steps
        self._batch_size = batch_size
        self._scaled = scaled
        self._decay = 1.0 - step_size * friction
        self._noise_sd = math.sqrt(2.0 * friction * step_size)

    def init(self, q: Array) -> LangevinState:
        """The state at ``q``, shape (dim,), at rest.

        Raises `ParameterError` if ``q`` has the wrong shape or U(q) is not finite: a chain cannot start there.
        """
        q, potential, at_rest = evaluated_start(
            q, self._potential.dim, lambda q: (self._potential.value(q), np.zeros_like(q))
        )
        check_finite_start(potential, at_rest)
        return LangevinState(q, potential, at_rest)

    def step(self, rng: np.random.Generator, state: LangevinState) -> tuple[LangevinState, TransitionInfo]:
        """One transition, always accepted unless a gradient fails or the position is no longer finite."""
        low, high = self._n_steps
        n_steps = int(rng.integers(low, high, endpoint=True))
        q, p = state.q, state.momentum
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                for _ in range(n_steps):
                    q = q + self._step_size * p
                    gradient = self._driver.minibatch(rng, self._batch_size, scaled=self._scaled).gradient(q)
                    noise = self._noise_sd * rng.standard_normal(q.size)
                    p = self._decay * p - self._step_size * gradient + noise
        except NumericalError:
            return state, solver_failure(n_steps)
        finite = bool(np.isfinite(q).all() and np.isfinite(p).all())
        info = TransitionInfo(
            finite, float(finite), math.nan, diverging=not finite, solver_failed=False, n_steps=n_steps
        )
        return (LangevinState(q, math.nan, p) if finite else state), info


class CorrectedSGHMC:
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
    driver
        Drives, through its mini-batches.
    step_size, n_steps
        As in `HMC`.
    batch_size
        Observations of a mini-batch.
    scaled
        Whether to multiply the sum over a mini-batch of n of N observations by N / n. If not, as in the published
        implementation, the force is a small fraction of the true one and trajectories are almost straight; the
        Metropolis step still leaves the posterior invariant.
    """

    def __init__(
        self,
        potential: Potential,
        driver: MinibatchDriver,
        *,
        step_size: float,
        n_steps: tuple[int, int],
        batch_size: int,
        scaled: bool = True,
    ) -> None:
        check_dynamics(potential, driver, step_size=step_size, n_steps=n_steps)
        _check_minibatches(driver, batch_size)
        self._potential = potential
        self._driver = driver
        self._step_size = step_size
        self._n_steps = n_steps
        self._batch_size = batch_size
        self._scaled = scaled

    def init(self, q: Array) -> State:
        """The state at ``q``, shape (dim,); see `HMC.init`. Its gradient, of all data, is not used."""
        return HMC(self._potential, self._potential, step_size=self._step_size, n_steps=self._n_steps).init(q)

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        """One transition: a mini-batch, then a step of `HMC` with it."""
        batch = self._driver.minibatch(rng, self._batch_size, scaled=self._scaled)
        hmc = HMC(self._potential, batch, step_size=self._step_size, n_steps=self._n_steps)
        try:
            gradient = batch.gradient(state.q)
        except NumericalError:
            return state, solver_failure(0)
        return hmc.step(rng, state._replace(gradient=gradient))


def _check_minibatches(driver: MinibatchDriver, batch_size: int) -> None:
    if not isinstance(driver, MinibatchDriver):
        raise ParameterError(f"driver: {type(driver).__name__} has no mini-batches, which stochastic gradients need")
    if batch_size < 1:
        raise ParameterError(f"batch_size: expected at least 1, got {batch_size}")
    # Report an impossible batch size now, not when a chain first draws one.
    driver.minibatch(np.random.default_rng(0), batch_size)
