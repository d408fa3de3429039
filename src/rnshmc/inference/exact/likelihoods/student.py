"""The distribution function of Student's t, far out in its tails."""

import numpy as np
from scipy.special import betaln, stdtr

from rnshmc.types import Array

_UNDERFLOW = 1e-100
"""Probabilities below this are computed by their logarithm."""
_TERMS = 60
"""Terms of the continued fraction; where probabilities are this small, a few reach rounding error."""


def log_student_cdf(z: Array, df: Array) -> Array:
    """log of the cumulative distribution of Student's t, finite far out in the lower tail."""
    probabilities = np.asarray(stdtr(df, z))
    far = (probabilities < _UNDERFLOW) & (z < 0)
    logs: Array = np.log(np.where(far, 1.0, probabilities))
    logs[far] = _log_tail(z[far], np.broadcast_to(df, z.shape)[far])
    return logs


def _log_tail(z: Array, df: Array) -> Array:
    """log G(z) for z far below zero.

    G(z) = I_x(a, b) / 2 with x = df / (df + z^2), a = df / 2, b = 1 / 2, by the continued fraction of the incomplete
    beta function (Abramowitz and Stegun 26.5.8), evaluated from its end.
    """
    a, b = 0.5 * df, 0.5
    x = 1.0 / (1.0 + z**2 / df)
    fraction = np.ones_like(x)
    for j in range(_TERMS, 0, -1):
        even = j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j))
        odd = -(a + j - 1) * (a + b + j - 1) * x / ((a + 2 * j - 2) * (a + 2 * j - 1))
        fraction = 1.0 + odd / (1.0 + even / fraction)
    log_x = -np.log1p(z**2 / df)
    log_rest = -np.log1p(df / z**2)
    logs: Array = a * log_x + b * log_rest - np.log(a) - betaln(a, b) - np.log(fraction) - np.log(2.0)
    return logs


def log_normaliser(df: Array) -> Array:
    """Logarithm of the constant by which the density is divided."""
    return np.asarray(0.5 * np.log(df) + betaln(0.5 * df, 0.5))
