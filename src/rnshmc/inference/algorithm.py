"""A stand-in for the algorithm: exact HMC whose step size adapts, on the evaluations of `rnshmc.sample`."""

import math
from collections.abc import Callable

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.inference.evaluations import Evaluations
from rnshmc.inference.outcome import Estimate, Outcome
from rnshmc.inference.progress import Progress
from rnshmc.inference.trouble import BudgetSpent
from rnshmc.kernels.hmc import HMC
from rnshmc.types import Array


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
    exact, step_size, stopped = _Exact(evaluations), 0.3, False
    chain: list[Array] = []
    potentials: list[float] = []
    try:
        list(evaluations.evaluate(starts))  # together
        state = HMC(exact, exact, step_size=step_size, n_steps=(1, 4)).init(starts[0])
        for _ in range(draws):
            state, info = HMC(exact, exact, step_size=step_size, n_steps=(1, 4)).step(rng, state)
            step_size *= math.exp(0.1 * (info.accept_prob - 0.8)) if len(chain) < draws // 4 else 1.0
            chain.append(state.q)
            potentials.append(state.potential)
            progress(Progress("sampling", evaluations.spent, expected=(draws - len(chain)) * 5))
    except (BudgetSpent, KeyboardInterrupt):
        stopped = True
    nothing = Estimate(np.full(evaluations.dim, np.nan), np.full(evaluations.dim, np.nan))
    return Outcome(
        draws=np.array([chain]).reshape(1, -1, evaluations.dim),
        potentials=np.array([potentials]),
        surrogate=None,
        mean=nothing,
        variance=nothing,
        method="adapted HMC",
        reason="this is a stand-in.",
        spent=evaluations.spent,
        by_stage={"sampling": evaluations.spent},
        surrogate_error=math.nan,
        efficiency=math.nan,
        pareto_k=math.nan,
        acceptance=0.8,
        predicted_acceptance=math.nan,
        rhat=math.nan,
        modes=(),
        uninformed=np.empty((0, evaluations.dim)),
        failures={},
        finished=not stopped,
        warnings=(),
    )
