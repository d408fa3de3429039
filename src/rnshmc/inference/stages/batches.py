"""Exact values and gradients at draws of a surrogate and on its shoulders, and what they say of it."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.fits import Fit
from rnshmc.inference.surrogate.posterior import draw_tempered, temperature
from rnshmc.inference.surrogate.tails import surprises
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array

STAGE = "training"


@dataclass(frozen=True, eq=False)
class Batch:
    """What exact values say of a surrogate that was not fitted to them.

    Attributes
    ----------
    differences
        U - V at draws that did not fail.
    missing
        Mass on the shoulders that the surrogate misses, relative to its own.
    surprised
        `surprises` there.
    size
        Number of points.
    """

    differences: Array
    missing: float
    surprised: Array
    size: int


def evaluated_batch(archive: Archive, fit: Fit, size: int, rng: np.random.Generator, tuning: Tuning) -> Batch:
    """Evaluate at ``size`` draws, and at points further out: fewer of these in more dimensions."""
    training, posterior = tuning.training, fit.posterior
    z = fit.positions[rng.choice(len(fit.positions), min(size, len(fit.positions)), replace=False)]
    outer = _shoulders(fit, int(np.ceil(size * min(1.0, training.shoulders / archive.dim))), rng, tuning)
    x = posterior.whitening.unwhiten(np.concatenate((z, outer)))
    found = archive.evaluate(x, STAGE)
    values, surrogate = np.array([one.value for one in found]), posterior.values(x)
    with np.errstate(invalid="ignore"):  # where both are infinite
        away, count = values - surrogate, len(z)
    differences = away[:count]
    typical = np.median(differences[np.isfinite(differences)]) if np.isfinite(differences).any() else 0.0
    tempered = slice(count, len(x) - len(outer) // 2)
    missing = missing_mass(away[tempered] - typical, surrogate[tempered], archive.dim)
    heights = values - archive.training().values.min()
    too_high = away - typical < -training.too_high
    if (heights[too_high] < tuning.fitting.plausible + 0.5 * archive.dim).any():
        missing = np.inf
    usable = differences[[one.failure is None for one in found[:count]]]
    return Batch(usable, missing, surprises(posterior, x[count:], values[count:]), len(x))


def missing_mass(differences: Array, surrogate: Array, dim: int) -> float:
    """Share of the posterior's mass, over the surrogate's, that tempered draws find beyond what they expect.

    Parameters
    ----------
    differences
        U - V at the draws, less their median over draws of the surrogate.
    surrogate
        V there.
    """
    if not len(differences):
        return 0.0
    # Importance weights of the surrogate at its tempered draws.
    exponents = (1.0 / temperature(dim) - 1.0) * (surrogate - surrogate.min())
    weights = np.exp(exponents)
    return float(weights @ np.expm1(np.clip(-differences, -50.0, 10.0)) / weights.sum())


def _shoulders(fit: Fit, count: int, rng: np.random.Generator, tuning: Tuning) -> Array:
    """Whitened points, (count, d), of which the first half are draws of the tempered surrogate.

    Those are a standard deviation further out than its draws. The others are as far or farther, in random directions:
    where a surrogate is too high, none of its draws show it.
    """
    dim = fit.posterior.dim
    outer = rng.standard_normal((count // 2, dim))
    beyond = rng.uniform(*tuning.training.beyond, count // 2)
    outer *= ((np.sqrt(dim) + beyond) / np.linalg.norm(outer, axis=1))[:, None]
    positions = fit.positions[rng.choice(len(fit.positions), count - count // 2, replace=False)]
    drawn, _ = draw_tempered(fit.posterior, positions, transitions=tuning.training.transitions, rng=rng)
    return np.concatenate((drawn[:, -1], outer))
