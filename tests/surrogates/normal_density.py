"""The normal density for comparison with marginal likelihoods, and its rounding error."""

import numpy as np

from rnshmc.types import Array

EPS = float(np.finfo(np.float64).eps)


def log_density(t: Array, covariance: Array) -> float:
    """log N(t | 0, covariance) by LU: beside 40 digits, SciPy's multivariate_normal was wrong by up to 9e-11 here."""
    log_determinant = np.linalg.slogdet(covariance)[1]
    return float(-0.5 * (t @ np.linalg.solve(covariance, t) + log_determinant + len(t) * np.log(2 * np.pi)))


def likelihood_rounding(covariance: Array, t: Array) -> float:
    """Rounding error of log N(t | 0, covariance): solved with the condition number, and as many terms as t has."""
    eigenvalues = np.linalg.eigvalsh(covariance)
    terms = t @ np.linalg.solve(covariance, t) + np.abs(np.log(eigenvalues)).sum() + len(t) * np.log(2 * np.pi)
    return float(10 * EPS * (np.sqrt(len(t)) + eigenvalues[-1] / eigenvalues[0]) * terms / 2)
