"""Simulated data for logistic regression (paper A, section 5.1)."""

import numpy as np
from scipy.special import expit

from rnshmc.datasets.matrix import Labels, LogisticData
from rnshmc.errors import ParameterError
from rnshmc.types import Array


def simulate_logistic(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Draw covariates, coefficients and labels as in paper A, which has n = 100000 and d = 50.

    X = (1/10 · 1, X_1) with the entries of X_1 from N(0, 1/100), beta uniform on [0, 1]^d, y_i from
    Bernoulli(1 / (1 + exp(-x_i' beta))).

    Parameters
    ----------
    n, d
        Observations, at least 2, and columns including the constant, at least 1.
    rng
        Generator of all draws.

    Returns
    -------
    LogisticData
        Shape (n, d), of origin "simulated".

    Raises
    ------
    ParameterError
        If a size is too small.
    DataError
        If all labels are equal, which can happen for tiny n.
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
