"""Tests whether a sampler's posterior means agree with the reference within Monte Carlo error."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from rnshmc.errors import ParameterError
from rnshmc.types import Array

MIN_ESS = 50
"""Minimum ESS for a reliable Monte Carlo error, the recommendation of Vehtari et al. (2021) for a split chain."""


@dataclass(frozen=True)
class Agreement:
    """Outcome of `compare_means`."""

    max_abs_z: float
    """The largest |z| over the coordinates."""
    n_coordinates: int
    """How many coordinates were compared."""
    threshold: float
    """What max |z| stays below with probability 1 - level or more if the means are equal."""
    agrees: bool
    """Whether it did."""


def pool_means(means: Array, mcse: Array) -> tuple[Array, Array]:
    """Average of independent chains and its Monte Carlo error, from each chain's mean and error, of shape (chains, d).

    Only the errors within chains count: the spread between chains in different modes must not widen the error.
    """
    return means.mean(axis=0), np.sqrt(np.square(mcse).sum(axis=0)) / len(mcse)


def compare_means(
    mean: Array, mcse: Array, reference_mean: Array, reference_mcse: Array, *, level: float = 0.01
) -> Agreement:
    """Compare two estimates of the same d means, each with its Monte Carlo standard error.

    z_i = (mean_i - reference_i) / sqrt(mcse_i^2 + reference_mcse_i^2) is close to standard normal if the chains are
    long and sample the same law. Bonferroni's inequality bounds the largest of the d values whatever their correlation:
    the threshold is the normal quantile at 1 - level / (2 d), and ``level`` bounds the probability that equal means are
    called different. Raises `ParameterError` if the arrays are not of one shape (d,), or the level is not between 0 and
    1.
    """
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level: expected a probability between 0 and 1, got {level}")
    shapes = {mean.shape, mcse.shape, reference_mean.shape, reference_mcse.shape}
    if len(shapes) != 1 or mean.ndim != 1:
        raise ParameterError(f"means and errors: expected four vectors of one length, got shapes {sorted(shapes)}")
    difference = np.abs(mean - reference_mean)
    error = np.hypot(mcse, reference_mcse)
    # Without Monte Carlo error (a chain that never moved), z is infinite for any difference.
    z = np.divide(difference, error, out=np.where(difference > 0, np.inf, 0.0), where=error > 0)
    threshold = -float(ndtri(level / (2 * mean.size)))
    return Agreement(float(z.max()), mean.size, threshold, bool(z.max() <= threshold))
