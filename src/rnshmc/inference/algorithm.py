"""A stand-in for the algorithm: exact HMC whose step size adapts, on the evaluations of `rnshmc.sample`."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.inference.evaluations import Evaluations
from rnshmc.inference.progress import Progress
from rnshmc.inference.trouble import BudgetSpent
from rnshmc.kernels.hmc import HMC
from rnshmc.types import Array


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    chains: Array
    """Draws, shape (chains, n, d), unconstrained."""
    stopped: str | None
    """Why it ended early."""


class _Exact:
    def __init__(self, evaluations: Evaluations) -> None:
        self._evaluations = evaluations
        self.dim = evaluations.dim

    def value(self, q: Array) -> float:
        [found] = self._evaluations.evaluate(q, gradient=False)
        return found.value

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        [found] = self._evaluations.evaluate(q)
        if found.gradient is None:
            raise NumericalError(found.failure or "the density is 0")
        return found.value, found.gradient


def run(
    evaluations: Evaluations,
    starts: Array,
    *,
    draws: int,
    rng: np.random.Generator,
    progress: Callable[[Progress], None],
) -> Outcome:
    """Sample with exact HMC."""
    exact, step_size, stopped = _Exact(evaluations), 0.3, None
    chain: list[Array] = []
    try:
        list(evaluations.evaluate(starts))  # together
        state = HMC(exact, exact, step_size=step_size, n_steps=(1, 4)).init(starts[0])
        for _ in range(draws):
            state, info = HMC(exact, exact, step_size=step_size, n_steps=(1, 4)).step(rng, state)
            step_size *= math.exp(0.1 * (info.accept_prob - 0.8)) if len(chain) < draws // 4 else 1.0
            chain.append(state.q)
            progress(Progress("sampling", evaluations.spent, expected=(draws - len(chain)) * 5))
    except BudgetSpent as error:
        stopped = str(error)
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Outcome(np.array([chain or [starts[0]]]), stopped)
