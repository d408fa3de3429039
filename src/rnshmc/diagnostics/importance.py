"""Pareto-smoothed importance weights (Vehtari et al. 2024), by arviz."""

import math

import numpy as np

from rnshmc.types import Array

FEWEST = 5
"""Weights of which one is in the tail: fewer are returned as they are."""


def pareto_smoothed(log_weights: Array) -> tuple[Array, float]:
    """Log weights with a smoothed tail, shape (m,), and the tail's shape k; NaN where too few weights are in the tail.

    Parameters
    ----------
    log_weights
        Shape (m,), at least one of them finite, the others finite or -inf.
    """
    if len(log_weights) < FEWEST:
        return log_weights, math.nan
    # Imported here, for it takes two seconds, and many who import this package read results that are there already.
    import arviz as az

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # weights of zero
        smoothed, shape = az.psislw(np.array(log_weights, dtype=np.float64), normalize=False)
    k = float(shape)
    return np.asarray(smoothed), k if math.isfinite(k) else math.nan
