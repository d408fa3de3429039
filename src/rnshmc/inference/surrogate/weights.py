"""Importance weights from surrogate to exact posterior, with Pareto-smoothed tails (Vehtari et al. 2024)."""

import math
from dataclasses import dataclass

import numpy as np

from rnshmc.diagnostics.importance import pareto_smoothed
from rnshmc.types import Array

USELESS_K = 1.0
"""Tail shape from which on weights have no mean (Vehtari et al. 2024)."""
MOST_RELIABLE_K = 0.7
"""Tail shape up to which weights average reliably, however many there are (Vehtari et al. 2024)."""
TELLING = 100
"""Minimum number of weights whose tail shape is judged: the fit then rests on its largest 20."""
EVEN = 0.9
"""Efficiency above which the tail of a few dozen weights does not matter."""
EXPONENTS = (-50.0, 3.0)
"""Log weights, relative to the median, outside which `weight_variance` clips: one large weight must not decide it."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Smoothed weights of surrogate draws.

    Attributes
    ----------
    weights
        Mean 1, all finite; shape (m,).
    pareto_k
        Shape of the tail. NaN where there are too few weights to fit one.
    efficiency
        (sum w)^2 / (m sum w^2), between 1 / m and 1.
    log_mean
        log of their mean before they were scaled to a mean of 1; -inf if all are zero.
    """

    weights: Array
    pareto_k: float
    efficiency: float
    log_mean: float

    @property
    def reliable_k(self) -> float:
        """Tail shape up to which so many weights average reliably; NaN where they are too few to tell."""
        return reliable_k(len(self.weights))

    @property
    def heavy(self) -> bool:
        """Whether they have a tail that decides their averages."""
        return self.efficiency < EVEN and self.pareto_k > USELESS_K


def reliable_k(count: int) -> float:
    """Tail shape up to which ``count`` weights average reliably: min(1 - 1 / log10 count, 0.7).

    NaN for fewer than `TELLING`, where the estimate itself is noise. (Vehtari et al. 2024, section 3.2.4.)
    """
    return min(1.0 - 1.0 / math.log10(count), MOST_RELIABLE_K) if count >= TELLING else math.nan


def smoothed(log_weights: Array) -> Weights:
    """Weights from their logarithms, the tail smoothed; -inf is a weight of zero.

    Weights are finite; if all are zero, the efficiency is 0.
    """
    if not np.isfinite(np.max(log_weights, initial=-np.inf)):
        return Weights(np.zeros(len(log_weights)), math.inf, 0.0, -math.inf)
    logarithms, pareto_k = pareto_smoothed(log_weights)
    highest = float(logarithms.max())
    weights = np.exp(logarithms - highest)
    mean = float(weights.mean())
    weights /= mean
    return Weights(weights, pareto_k, float(1.0 / (weights**2).mean()), highest + math.log(mean))


def weight_variance(differences: Array) -> float:
    """Variance of the weights exp(V - U) over their squared mean, from a few U - V; robust to a single large weight.

    inf where fewer than two differences are finite.
    """
    finite = differences[np.isfinite(differences)]
    if len(finite) < 2:
        return math.inf
    weights = np.exp(np.clip(np.median(finite) - differences, *EXPONENTS))
    return float(((weights - 1.0) ** 2).sum() / (len(weights) - 1))


def measured_shift(weights: Array, base: Array, centred: Array) -> tuple[Array, Array]:
    """Mean of (w - 1) f over draws, and its variance, to first order: the mean of w is random, too.

    Parameters
    ----------
    weights, base
        Importance weights to the exact density and to the surrogate, (m,), of any mean: averages are divided by it. So
        an exact surrogate has no shift.
    centred
        f less its mean over the surrogate, (m, ...).
    """
    shape, least = (-1,) + (1,) * (centred.ndim - 1), float(np.finfo(float).tiny)
    weights, base = (np.asarray(one.reshape(shape) / max(float(one.mean()), least)) for one in (weights, base))
    mean, plain = (weights * centred).mean(axis=0), (base * centred).mean(axis=0)
    terms = weights * (centred - mean) - base * (centred - plain)
    return mean - plain, terms.var(axis=0, ddof=1) / len(terms)


def zero_variance(differences: Array) -> float:
    """Variance of the weights over their squared mean that those of draws without density, zero, add."""
    share = float(np.mean(~np.isfinite(differences))) if len(differences) else 0.0
    return share / (1.0 - share) if share < 1.0 else np.inf
