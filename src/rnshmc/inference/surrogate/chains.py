"""Many chains of HMC at once, on a potential that is evaluated at many positions in one call."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnshmc.dynamics.leapfrog import leapfrog
from rnshmc.dynamics.metrics import IdentityMetric
from rnshmc.inference.tuning_result import Trajectories
from rnshmc.types import Array

BatchPotential = Callable[[Array], tuple[Array, Array]]
"""Potentials (m,) and gradients (m, d) at positions (m, d); an infinite potential where a trajectory must not end."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Transitions of m chains."""

    draws: Array
    """Shape (m, n, d)."""
    potentials: Array
    """Shape (m, n)."""
    acceptance: float
    """Mean probability of acceptance."""
    step_size: float
    """Mean leapfrog step, adapted if that was asked for."""
    end: tuple[Array, Array, Array]
    """The last positions, potentials and gradients, from which the chains can continue."""


def run_chains(
    potential: BatchPotential,
    start: tuple[Array, Array, Array],
    *,
    transitions: int,
    step_size: float,
    rng: np.random.Generator,
    tuning: Trajectories,
    adapt_to: float | None = None,
    shorten: bool = False,
) -> Chains:
    """HMC with an identity mass matrix: trajectories a sixth to a third of a turn of a standard normal density.

    The number of steps and the step size are drawn anew for all chains at once, before each transition. Chains start
    at positions with their potentials and gradients. Dual averaging adapts the mean step size to the acceptance
    ``adapt_to`` (Hoffman and Gelman 2014). With ``shorten``, some transitions have shorter steps, which frees chains
    from where the potential is steep.
    """
    potential = _finite(potential)
    q, u, g = (np.array(part) for part in start)
    draws, potentials = np.empty((transitions, *q.shape)), np.empty((transitions, len(q)))
    probabilities = np.empty(transitions)
    tuner = _DualAveraging(step_size, adapt_to)
    for k in range(transitions):
        step = tuner.step_size * rng.uniform(0.8, 1.2)
        if shorten and k % tuning.short_every == 0:
            step /= tuning.short_every
        steps = int(np.clip(np.ceil(rng.uniform(1.0, 2.0) / step), 1, tuning.most_steps))
        p = rng.standard_normal(q.shape)
        uniform = rng.uniform(size=len(q))
        with np.errstate(over="ignore", invalid="ignore"):
            # Rows are chains: the integrator works element by element.
            end, p_end, u_end, g_end = leapfrog(
                q,
                p,
                g,
                step_size=step,
                n_steps=steps,
                metric=IdentityMetric(),
                force=lambda position: potential(position)[1],
                at_end=potential,  # type: ignore[arg-type]
            )
            change = u_end - u + 0.5 * ((p_end**2).sum(axis=1) - (p**2).sum(axis=1))
        probability = np.exp(-np.maximum(np.where(np.isfinite(change), change, np.inf), 0.0))
        accepted = uniform < probability
        q, g = np.where(accepted[:, None], end, q), np.where(accepted[:, None], g_end, g)
        u = np.where(accepted, u_end, u)
        draws[k], potentials[k], probabilities[k] = q, u, probability.mean()
        # No step is short enough for a trajectory that ends where the density is zero.
        inside = np.isfinite(u_end)
        tuner.update(float(probability[inside].mean()) if inside.any() else 0.0)
    return Chains(
        draws.transpose(1, 0, 2),
        potentials.T,
        float(probabilities.mean()),
        tuner.settled(),
        (draws[-1], potentials[-1], g),
    )


def _finite(potential: BatchPotential) -> BatchPotential:
    """The potential, infinite and without a slope where a trajectory has diverged."""

    def guarded(q: Array) -> tuple[Array, Array]:
        there = np.isfinite(q).all(axis=1)
        if there.all():
            return potential(q)
        values, gradients = np.full(len(q), np.inf), np.zeros(q.shape)
        values[there], gradients[there] = potential(q[there])
        return values, gradients

    return guarded


class _DualAveraging:
    """The step size of a warm-up; a fixed one without a target."""

    def __init__(self, step_size: float, target: float | None) -> None:
        self.step_size = step_size
        self._target = target
        self._centre = np.log(2.0 * step_size)
        self._error = self._average = 0.0
        self._count = 0

    def update(self, acceptance: float) -> None:
        if self._target is None:
            return
        self._count += 1
        k = self._count
        self._error += (self._target - acceptance - self._error) / (k + 10.0)
        log_step = self._centre - np.sqrt(k) / 0.05 * self._error
        self._average += k**-0.75 * (log_step - self._average)
        self.step_size = float(np.exp(np.clip(log_step, -12.0, 1.0)))

    def settled(self) -> float:
        return self.step_size if self._count == 0 else float(np.exp(np.clip(self._average, -12.0, 1.0)))
