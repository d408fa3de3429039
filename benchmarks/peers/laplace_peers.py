"""The Laplace approximation, corrected: independence Metropolis, and Pareto-smoothed importance sampling."""

from dataclasses import dataclass

import arviz
import numpy as np
import scipy.linalg
import scipy.optimize
from peers.counted import Counted
from peers.gradient_peers import chain_outcome
from peers.measures import Moments, weighted_draws
from peers.outcome import Outcome
from peers.problems import Problem

from rnshmc.types import Array

PROPOSALS = 2000
STEP = 1e-4
"""Of one-sided differences of the gradient, in units of BFGS's idea of the standard deviations."""


@dataclass(frozen=True)
class Laplace:
    """N(mode, (factor factor')^-1), factor a lower Cholesky factor of the Hessian of U at the mode."""

    mode: Array
    factor: Array

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draws, shape (n, dim)."""
        z = rng.standard_normal((n, len(self.mode)))
        draws: Array = self.mode + scipy.linalg.solve_triangular(self.factor, z.T, lower=True, trans="T").T
        return draws

    def log_density(self, draws: Array) -> Array:
        """Log density at the rows of ``draws``, up to a constant."""
        log_density: Array = -0.5 * (((draws - self.mode) @ self.factor) ** 2).sum(axis=1)
        return log_density


def laplace(target: Counted, start: Array) -> Laplace:
    """The mode by BFGS, the Hessian by one-sided differences of dim gradients.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Hessian there is not positive definite.
    """

    def objective(q: Array) -> tuple[float, Array]:
        value, gradient = target.log_density_and_gradient(q)
        return -value, -gradient

    found = scipy.optimize.minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-3})
    steps = STEP * np.sqrt(np.diag(np.asarray(found.hess_inv)))
    columns = [
        (-target.log_density_and_gradient(found.x + step)[1] - found.jac) / step.sum() for step in np.diag(steps)
    ]
    hessian = np.stack(columns)
    return Laplace(found.x, np.linalg.cholesky(0.5 * (hessian + hessian.T)))


def laplace_importance(target: Counted, problem: Problem, seed: int) -> Outcome:
    """Importance sampling from the Laplace approximation, weights smoothed by arviz.psislw."""
    rng = np.random.default_rng(seed)
    approximation = laplace(target, problem.starts(rng, 1)[0])
    warmup = target.units
    draws = approximation.sample(rng, PROPOSALS)
    ratios = np.array([target.log_density(q) for q in draws]) - approximation.log_density(draws)
    smoothed, k_hat = arviz.psislw(ratios - ratios.max())
    weights = np.exp(np.asarray(smoothed))
    weights /= weights.sum()
    moments = Moments.of(draws, weights)
    good = float(k_hat) < 0.7
    return Outcome(
        moments.mean,
        moments.variance,
        f"Pareto k {float(k_hat):.2f}",
        good,
        weighted_draws(draws, weights),
        warmup,
    )


def laplace_metropolis(target: Counted, problem: Problem, seed: int) -> Outcome:
    """Metropolis with independent proposals from the Laplace approximation, two chains."""
    rng = np.random.default_rng(seed)
    approximation = laplace(target, problem.starts(rng, 1)[0])
    warmup = target.units
    return chain_outcome(np.stack([_metropolis(target, approximation, rng) for _ in range(2)]), warmup)


def _metropolis(target: Counted, approximation: Laplace, rng: np.random.Generator) -> Array:
    proposals = approximation.sample(rng, PROPOSALS // 2)
    ratios = np.array([target.log_density(q) for q in proposals]) - approximation.log_density(proposals)
    accept = np.log(rng.uniform(size=len(proposals)))
    kept = np.empty_like(proposals)
    current = 0
    for k in range(len(proposals)):
        if accept[k] < ratios[k] - ratios[current]:
            current = k
        kept[k] = proposals[current]
    return kept
