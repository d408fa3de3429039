"""Pareto-smoothed importance weights (Vehtari et al. 2024), by arviz."""

import math

import numpy as np

from rnshmc.diagnostics.summary import since_one
from rnshmc.types import Array

FEWEST = 5
"""Weights of which one is in the tail: fewer are returned as they are."""


def pareto_smoothed(log_weights: Array) -> tuple[Array, float]:
    """Log weights with a smoothed tail, shape (m,), and the tail's shape k; NaN where too few weights are in the tail.

    Of the weights, shape (m,), at least one is finite, and the others are finite or -inf.
    """
    if len(log_weights) < FEWEST:
        return log_weights, math.nan
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # weights of zero
        smoothed, k = (_smoothed if since_one() else _smoothed_before_one)(np.array(log_weights, dtype=np.float64))
    return smoothed, k if math.isfinite(k) else math.nan


def tail_shape(values: Array) -> float:
    """Shape k of the tail of values from 0 on, (m,): moments below the order 1 / k exist. NaN if unknown."""
    with np.errstate(divide="ignore"):
        return pareto_smoothed(np.log(values))[1] if values.any() else math.nan


# arviz is imported here, for it takes two seconds, and many who import this read results that are there already.
def _smoothed_before_one(log_weights: Array) -> tuple[Array, float]:
    import arviz as az

    smoothed, k = az.psislw(log_weights, normalize=False)
    return np.asarray(smoothed), float(k)


def _smoothed(log_weights: Array) -> tuple[Array, float]:
    from arviz_stats.base import array_stats

    try:
        # It takes log likelihoods that are left out, and normalises.
        smoothed, k = array_stats.psislw(-log_weights)
    except ValueError:  # too few in the tail, or all the same
        return log_weights, math.nan
    lowest = np.argmin(np.where(np.isfinite(log_weights), log_weights, np.inf))
    return np.asarray(smoothed + (log_weights - smoothed)[lowest]), float(k)
