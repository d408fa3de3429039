"""As many draws as were asked for, of a surrogate that a few exact values correct."""

import numpy as np

from rnshmc.inference.result.outcome import Surrogate
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

EVEN_ENOUGH = 0.5
"""Efficiency of the importance weights from which on the surrogate's draws are used, and not the checked ones."""
ITERATIONS, TOLERANCE = 50, 1e-8
LONGEST = 1.0
"""Newton steps are no longer: a change of the logarithm of the weights of about one."""


def resampled(surrogate: Surrogate, whitening: Whitening, count: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Draws in x, shape (count, d), and whether they are the surrogate's.

    They are the surrogate's draws, with the weights nearest to even ones (in relative entropy) that give each whitened
    coordinate its corrected mean and variance. If some of them are known to have density zero, or weights of the
    checked ones are uneven, or there are no such weights, they are the checked draws with their importance weights:
    exact, and repeated.
    """
    usable = np.isfinite(surrogate.differences).all() and surrogate.weights.efficiency >= EVEN_ENOUGH
    weights = _corrected(surrogate, whitening) if usable else None
    if weights is None:
        return surrogate.checked[_systematic(surrogate.weights.weights, count, rng)], False
    return surrogate.draws[_systematic(weights, count, rng)], True


def _corrected(surrogate: Surrogate, whitening: Whitening) -> Array | None:
    mean = surrogate.expectation(whitening.whiten).value
    variance = surrogate.expectation(lambda x: (whitening.whiten(x) - mean) ** 2).value
    z = whitening.whiten(surrogate.draws) - mean
    return tilted(np.column_stack((z, z**2)), np.concatenate((np.zeros(len(mean)), variance)))


def tilted(features: Array, targets: Array) -> Array | None:
    """Weights exp(a'f) of mean 1 under which features (n, k) average to targets (k,); None if there are none.

    They minimise the relative entropy to even weights (exponential tilting), by Newton steps on the convex dual.
    """
    scale = np.maximum(features.std(axis=0), np.finfo(float).tiny)
    centred = (features - targets) / scale
    slopes, weights = np.zeros(len(targets)), np.ones(len(features))
    for _ in range(ITERATIONS):
        gradient = weights @ centred / len(weights)
        if np.abs(gradient).max() < TOLERANCE:
            return weights
        hessian = (centred * weights[:, None]).T @ centred / len(weights) - np.outer(gradient, gradient)
        step = -np.linalg.lstsq(hessian, gradient, rcond=1e-10)[0]
        slopes = slopes + step * min(1.0, LONGEST / float(np.linalg.norm(step)))
        exponents = centred @ slopes
        weights = np.exp(exponents - exponents.max())
        weights /= weights.mean()
    return None


def _systematic(weights: Array, count: int, rng: np.random.Generator) -> Array:
    """Indices, each as often as its weight asks for up to one, in random order."""
    ends = np.cumsum(weights) / weights.sum()
    found = np.searchsorted(ends, (np.arange(count) + rng.uniform()) / count)
    return rng.permutation(np.minimum(found, len(weights) - 1))
