"""Exact HMC with the Hessian at the mode as mass matrix: draws of a near-Gaussian posterior are almost independent.

In coordinates whitened in this way all directions have similar scales, and a trajectory of about a quarter period
forgets its start. Paper A's RNS-RMHMC learns from an exploration by RMHMC, with almost independent draws; so are these,
at the cost of a few gradients per draw.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rnshmc.dynamics.metrics import DenseMetric
from rnshmc.kernels.hmc import HMC
from rnshmc.run.chain import Phase, Progress, run_phase
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.counting import CountedPotential, Counter
from rnshmc.run.phases import StepRange
from rnshmc.types import Array, Potential


@dataclass(frozen=True)
class WhitenedHMC:
    """HMC whose mass matrix is the Hessian at the mode."""

    mode: Array
    """Minimum of the potential, shape (dim,)."""
    metric: DenseMetric
    """The Hessian there."""
    kernel: HMC
    counter: Counter
    """Counter of the kernel's evaluations; the search for the mode is not counted."""

    @classmethod
    def of(cls, potential: Potential, *, start: Array, step_size: float, n_steps: StepRange) -> Self:
        """Find the mode and the Hessian there.

        The leapfrog step is in posterior standard deviations. Raises `ParameterError` if a setting is out of range, or
        the Hessian is not positive definite; `NumericalError` as the potential's, which has to be defined at the start.
        """
        mode = find_mode(potential, start)
        metric = DenseMetric(hessian(potential, mode))
        counter = Counter()
        counted = CountedPotential(potential, counter)
        kernel = HMC(counted, counted, step_size=step_size, n_steps=n_steps, metric=metric)
        return cls(mode, metric, kernel, counter)

    def laplace_draw(self, rng: np.random.Generator) -> Array:
        """A draw of the Laplace approximation of the posterior, shape (dim,)."""
        # A momentum p ~ N(0, M) has velocity M^-1 p ~ N(0, M^-1).
        return self.mode + self.metric.velocity(self.metric.sample_momentum(rng, self.mode.size))


def explore_whitened(
    potential: Potential,
    *,
    start: Array,
    step_size: float,
    n_steps: StepRange,
    iterations: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Phase:
    """Explore a posterior by `WhitenedHMC` from a draw of its Laplace approximation.

    The spec of a checkpoint has to identify the potential. Raises the errors of `WhitenedHMC.of`, and `CheckpointError`
    if the checkpoint is damaged, or belongs to another chain.
    """
    whitened = WhitenedHMC.of(potential, start=start, step_size=step_size, n_steps=n_steps)
    _, phase = run_phase(
        whitened.kernel,
        whitened.kernel.init(whitened.laplace_draw(rng)),
        iterations=iterations,
        rng=rng,
        counter=whitened.counter,
        progress=progress,
        checkpoint=checkpoint and checkpoint.extended(whitened={"step_size": step_size, "n_steps": n_steps}),
    )
    return phase


def find_mode(potential: Potential, start: Array) -> Array:
    """Minimise U from ``start`` by L-BFGS."""
    # Slow to import, and jobs that only read references import this module.
    from scipy.optimize import minimize

    found = minimize(
        potential.value_and_grad, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-14}
    )
    return np.asarray(found.x)


def hessian(potential: Potential, q: Array, step: float = 1e-5) -> Array:
    """Hessian of U at ``q``, shape (dim, dim), by central differences of the gradient, symmetrised."""
    columns = [(potential.gradient(q + e) - potential.gradient(q - e)) / (2 * step) for e in step * np.eye(q.size)]
    matrix: Array = np.stack(columns)
    return 0.5 * (matrix + matrix.T)
