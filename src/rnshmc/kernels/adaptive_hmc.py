"""Adaptive HMC: the driver learns from every state and changes with a vanishing probability (ARNS-HMC, Algorithm 4)."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.kernels.hmc import HMC
from rnshmc.kernels.transition import State, TransitionInfo
from rnshmc.types import AdaptiveDriver, Array, Potential


@dataclass(eq=False)
class AdaptiveHMC:
    """HMC whose driver learns from the chain (paper A, Algorithm 4).

    After each transition the driver learns the state, whether new or repeated, and its exact potential; with
    probability a_t = (1 + t/offset)^-exponent it adopts what it has learnt, t = 0, 1, ... The exact potential decides,
    as in `HMC`. The kernel and its driver change from step to step, so each chain needs its own.

    With a_t -> 0 the adaptation diminishes. Where, besides, the kernels of all drivers are uniformly ergodic together,
    which paper A takes for granted, the chain converges to the exact posterior (Roberts and Rosenthal 2007, Theorem 5).
    With an infinite sum of a_t the driver never stops to improve. Both hold for 0 < exponent <= 1. At t = offset, from
    where it falls faster, the probability is 2^-exponent. Raises `ParameterError` if a setting is out of range, one of
    the two published conditions does not hold, driver and potential differ in dimension, or the driver does not learn.
    """

    potential: Potential
    """Decides: the exact potential."""
    driver: AdaptiveDriver
    """Drives and learns."""
    _: KW_ONLY
    step_size: float
    n_steps: tuple[int, int]
    """As in `HMC`."""
    offset: float
    exponent: float
    """The schedule a_t; t counts the steps of this kernel."""
    _t: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.driver, AdaptiveDriver):
            raise ParameterError(f"driver: {type(self.driver).__name__} does not learn, which adaptive HMC needs")
        self._hmc = HMC(self.potential, self.driver, step_size=self.step_size, n_steps=self.n_steps)
        offset, exponent = self.offset, self.exponent
        if not (math.isfinite(offset) and offset > 0):
            raise ParameterError(f"offset: expected a positive number, got {offset}")
        if not exponent > 0:
            raise ParameterError(f"exponent: a_t must tend to 0, so expected exponent > 0, got {exponent}")
        if not exponent <= 1:
            raise ParameterError(f"exponent: a_t must not be summable, so expected exponent <= 1, got {exponent}")

    def init(self, q: Array) -> State:
        """The state at ``q``, shape (dim,); see `HMC.init`."""
        return self._hmc.init(q)

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        """Make one transition and learn from it.

        It always uses the random numbers of `HMC.step` and one uniform number.
        """
        state, info = self._hmc.step(rng, state)
        self.driver.update(state.q, state.potential)
        adopts = rng.uniform() < self.probability(self._t)
        self._t += 1
        if adopts:
            self.driver.adopt()
            # The next trajectory starts with this gradient, so it has to be the new driver's.
            state = state._replace(gradient=self.driver.gradient(state.q))
        return state, info

    def probability(self, t: int) -> float:
        """a_t, the probability of adopting at iteration t."""
        return float((1.0 + t / self.offset) ** -self.exponent)

    def snapshot(self) -> dict[str, Any]:
        """Position in the schedule, and state of the driver."""
        return {"t": self._t, "driver": self.driver.snapshot()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot of such a kernel."""
        self._t = snapshot["t"]
        self.driver.restore(snapshot["driver"])
