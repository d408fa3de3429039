"""Simulated data for logistic regression (paper A, section 5.1)."""

import numpy as np
from scipy.special import expit

from rnshmc.datasets.matrix import Labels, LogisticData
from rnshmc.errors import ParameterError
from rnshmc.types import Array


def simulate_logistic(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Draw covariates, coefficients and labels as in paper A, which has n = 100000 and d = 50.

    X = (1/10 · 1, X_1) with the entries of X_1 from N(0, 1/100), beta uniform on [0, 1]^d, y_i from Bernoulli(1 / (1 +
    exp(-x_i' beta))). Raises `ParameterError` if a size is too small; `DataError` if all labels came out equal, as they
    may for tiny n.
    """
    if n < 2 or d < 1:
        raise ParameterError(f"sizes are n = {n}, d = {d}, expected n >= 2 and d >= 1")
    X = np.column_stack((np.full(n, 0.1), 0.1 * rng.standard_normal((n, d - 1))))
    beta = rng.uniform(size=d)
    y = draw_labels(X, beta, rng)
    return LogisticData(X, y, "simulated", ("constant", *(f"x{k}" for k in range(1, d))))


def draw_labels(X: Array, beta: Array, rng: np.random.Generator) -> Labels:
    """Labels y_i from Bernoulli(1 / (1 + exp(-x_i' beta)))."""
    labels: Labels = (rng.uniform(size=len(X)) < expit(X @ beta)).astype(np.uint8)
    return labels


def plain_standin(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Simulate data of n rows and d columns, where no summary statistics of the real ones are at hand.

    Nothing else is known, so we assume independent standard normal covariates; coefficients from N(0, 1/d), so that
    the log odds have a variance of about 1; no intercept, so that about half of the labels are 1. Unlike a stand-in
    from summary statistics it shares nothing with the real data but its size: no result on it tells anything about
    these, other than what an evaluation costs.
    """
    X = rng.standard_normal((n, d))
    y = draw_labels(X, rng.standard_normal(d) / np.sqrt(d), rng)
    return LogisticData(X, y, "stand-in", tuple(f"x{k}" for k in range(1, d + 1)))
