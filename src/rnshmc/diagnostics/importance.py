"""Pareto-smoothed importance weights (Vehtari et al. 2024), computed by arviz."""

import math

import numpy as np

from rnshmc.diagnostics.summary import since_one
from rnshmc.types import Array

FEWEST = 5
"""Minimum number of weights for a tail of one; fewer are returned unchanged."""


def pareto_smoothed(log_weights: Array) -> tuple[Array, float]:
    """Log weights with a smoothed tail, (m,), and the tail's shape k, NaN if too few weights are in the tail.

    Of the weights, shape (m,), at least one is finite, and the others are finite or -inf.
    """
    if len(log_weights) < FEWEST:
        return log_weights, math.nan
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # zero weights
        smoothed, k = (_smoothed if since_one() else _smoothed_before_one)(np.array(log_weights, dtype=np.float64))
    return smoothed, k if math.isfinite(k) else math.nan


def tail_shape(values: Array) -> float:
    """Tail shape k of nonnegative values, (m,): moments of order below 1 / k exist. NaN if unknown."""
    with np.errstate(divide="ignore"):
        return pareto_smoothed(np.log(np.ascontiguousarray(values)))[1] if values.any() else math.nan


# arviz is imported here because it takes two seconds, and many importers only read existing results.
def _smoothed_before_one(log_weights: Array) -> tuple[Array, float]:
    import arviz as az

    smoothed, k = az.psislw(log_weights, normalize=False)
    return np.asarray(smoothed), float(k)


def _smoothed(log_weights: Array) -> tuple[Array, float]:
    from arviz_stats.base import array_stats

    try:
        # arviz expects left-out log likelihoods and normalises the weights.
        smoothed, k = array_stats.psislw(-log_weights)
    except ValueError:  # too few values in the tail, or all equal
        return log_weights, math.nan
    lowest = np.argmin(np.where(np.isfinite(log_weights), log_weights, np.inf))
    return np.asarray(smoothed + (log_weights - smoothed)[lowest]), float(k)
