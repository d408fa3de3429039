"""The requested number of draws, from a surrogate that a few exact values correct."""

import numpy as np
from scipy.optimize import root
from scipy.special import softmax

from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.mixture import Mixture, apportioned
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import Judging
from rnshmc.types import Array

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


def resampled(corrected: Corrected, whitening: Whitening, count: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Draws in x, shape (count, d), and whether they are the surrogate's.

    The surrogate's draws have the weights nearest to uniform (in relative entropy) that give each whitened coordinate
    its corrected mean and variance. If some of them have density zero, or the weights of the checked draws are uneven,
    or there are no such weights, the checked draws are returned with their importance weights: exact, and repeated. If
    nothing was checked, the surrogate's draws are not weighted, and repeated if too few.
    """
    if not len(corrected.checked):
        available = len(corrected.draws)
        chosen = rng.permutation(available) if count <= available else _systematic(np.ones(available), count, rng)
        return corrected.draws[chosen[:count]], True
    usable = np.isfinite(corrected.differences).all() and corrected.weights.efficiency >= Judging.even_enough
    weights = _moment_weights(corrected, whitening) if usable else None
    if weights is None:
        return corrected.checked[_systematic(corrected.exact_weights, count, rng)], False
    return corrected.draws[_systematic(weights, count, rng)], True


def redrawn(corrected: Corrected | Mixture, count: int, rng: np.random.Generator) -> Array:
    """Draws in x, (count, d), as of `resampled` in coordinates in which the surrogate's draws have unit covariance."""
    if isinstance(corrected, Mixture):
        pairs = zip(corrected.parts, apportioned(corrected.shares.value, count), strict=True)
        return rng.permutation(np.concatenate([redrawn(part, int(n), rng) for part, n in pairs]))
    return resampled(corrected, Whitening.of_draws(corrected.draws), count, rng)[0]


def _moment_weights(corrected: Corrected, whitening: Whitening) -> Array | None:
    mean = corrected.expectation(whitening.whiten).value
    variance = corrected.expectation(lambda x: (whitening.whiten(x) - mean) ** 2).value
    z = whitening.whiten(corrected.draws) - mean
    return tilted(np.column_stack((z, z**2)), np.concatenate((np.zeros(len(mean)), variance)))


def tilted(features: Array, targets: Array) -> Array | None:
    """Weights exp(a'f) of mean 1 under which features (n, k) average to targets (k,); None if there are none.

    They minimise the relative entropy to uniform weights (exponential tilting). The Jacobian of the averages by a is
    the covariance of the features.
    """
    centred = (features - targets) / np.maximum(features.std(axis=0), TINY)

    def weights(slopes: Array) -> Array:
        return np.asarray(softmax(centred @ slopes))

    def averages(slopes: Array) -> Array:
        return np.asarray(weights(slopes) @ centred)

    def covariance(slopes: Array) -> Array:
        return np.atleast_2d(np.cov(centred.T, aweights=weights(slopes), bias=True))

    # The solver ends where rounding prevents progress.
    found = root(averages, np.zeros(len(targets)), jac=covariance, tol=EPS).x
    return weights(found) * len(features) if np.abs(averages(found)).max() < np.sqrt(EPS) else None


def _systematic(weights: Array, count: int, rng: np.random.Generator) -> Array:
    """Indices in random order, each in proportion to its weight up to one (systematic resampling)."""
    total = weights.sum()
    ends = np.cumsum(weights if total > 0 else np.ones(len(weights)))
    found = np.searchsorted(ends / ends[-1], (np.arange(count) + rng.uniform()) / count)
    return rng.permutation(np.minimum(found, len(weights) - 1))
