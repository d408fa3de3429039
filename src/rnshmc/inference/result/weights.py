"""Importance weights from surrogate to exact posterior, with Pareto-smoothed tails (Vehtari et al. 2024)."""

import math
from dataclasses import dataclass

import numpy as np

from rnshmc.types import Array

USELESS_K = 1.0
"""Shape of the weights' tail from which on they have no mean (Vehtari et al. 2024)."""
EVEN = 0.9
"""Efficiency above which the tail of a few dozen weights is of no account."""
FEWEST_TAIL = 5
"""Weights that a generalised Pareto distribution is fitted to, at least."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Smoothed weights of surrogate draws.

    Attributes
    ----------
    weights
        Mean 1, all finite; shape (m,).
    pareto_k
        Shape of the tail: trustworthy below 0.7. NaN where there are too few weights to tell.
    efficiency
        (sum w)^2 / (m sum w^2), between 1 / m and 1.
    """

    weights: Array
    pareto_k: float
    efficiency: float

    @property
    def heavy(self) -> bool:
        """Whether they have a tail that decides what they average to."""
        return self.efficiency < EVEN and self.pareto_k > USELESS_K


def smoothed(log_weights: Array) -> Weights:
    """Weights from their logarithms; -inf is a weight of zero.

    The largest min(m / 5, 3 sqrt(m)) are replaced by quantiles of a generalised Pareto distribution fitted to them.
    All weights are 1 / 0 = NaN-free: if all are zero they stay so, with an efficiency of 0.
    """
    m = len(log_weights)
    top = float(np.max(log_weights, initial=-np.inf))
    if not np.isfinite(top):
        return Weights(np.zeros(m), math.inf, 0.0)
    weights = np.exp(log_weights - top)
    tail = math.ceil(min(0.2 * m, 3.0 * math.sqrt(m)))
    pareto_k = math.nan
    if tail >= FEWEST_TAIL:
        order = np.argsort(weights, kind="stable")
        largest = order[-tail:]
        threshold = weights[order[-tail - 1]]
        excesses = weights[largest] - threshold
        if excesses[0] > 0:
            pareto_k, scale = fit_generalised_pareto(excesses)
            ranks = (np.arange(tail) + 0.5) / tail
            weights[largest] = np.minimum(threshold + _quantiles(ranks, pareto_k, scale), 1.0)
    weights /= weights.mean()
    return Weights(weights, pareto_k, float(1.0 / (weights**2).mean()))


def fit_generalised_pareto(excesses: Array) -> tuple[float, float]:
    """Shape k and scale of a generalised Pareto distribution, by the estimate of Zhang and Stephens (2009).

    The shape is drawn towards 0.5 as by ten more observations.

    Parameters
    ----------
    excesses
        Positive, in ascending order.
    """
    n = len(excesses)
    count = 30 + int(math.sqrt(n))
    grid = 1.0 - np.sqrt(count / (np.arange(1, count + 1) - 0.5))
    thetas = 1.0 / excesses[-1] + grid / (3.0 * excesses[max(int(n / 4 + 0.5) - 1, 0)])
    with np.errstate(divide="ignore", invalid="ignore"):
        shapes = np.log1p(-thetas[:, None] * excesses).mean(axis=1)
        likelihoods = n * (np.log(-thetas / shapes) - shapes - 1.0)
    likelihoods = np.where(np.isfinite(likelihoods), likelihoods, -np.inf)
    posterior = np.exp(likelihoods - likelihoods.max())
    theta = float(posterior @ thetas / posterior.sum())
    shape = float(np.log1p(-theta * excesses).mean())
    return (n * shape + 5.0) / (n + 10.0), -shape / theta


def _quantiles(ranks: Array, shape: float, scale: float) -> Array:
    if abs(shape) < 1e-8:
        return np.asarray(-scale * np.log1p(-ranks))
    return np.asarray(scale * np.expm1(-shape * np.log1p(-ranks)) / shape)


def weight_variance(differences: Array) -> float:
    """Variance of the weights exp(V - U) over their squared mean, from a few U - V; robust to a single large weight.

    inf where no difference is finite.
    """
    finite = differences[np.isfinite(differences)]
    if len(finite) < 2:
        return np.inf
    weights = np.exp(np.clip(np.median(finite) - differences, -50.0, 3.0))
    return float(((weights - 1.0) ** 2).sum() / (len(weights) - 1))
