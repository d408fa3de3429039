"""Exact values at draws stretched away from their mean: mass that neither surrogate nor chains have come near."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import FARTHEST
from rnshmc.inference.result.estimates import spread
from rnshmc.inference.tuning import TailChecks
from rnshmc.types import Array

STAGE = "far out"


def outlying(
    archive: Archive,
    draws: Array,
    exact: tuple[Array, Array],
    rng: np.random.Generator,
    tuning: TailChecks,
    *,
    chains: bool,
) -> float:
    """Part of a variance that draws lack far out, in standard deviations of the square of a normal variable.

    For draws x of the density p, and the set A of those whose distance from the mean is within a factor sqrt(2) of the
    median,

        P(c A) = P(A) E[p(c x) c^d / p(x) | x in A],

    x relative to the mean. The share of draws in c A is subtracted, and twice the standard error of the average. Chains
    are many evaluations, and have several draws stretched by 2, 4, ...; of a surrogate's draws it is one, and c A
    begins beyond all of them.

    Parameters
    ----------
    draws
        Of the posterior, (n, d).
    exact
        Some with exact potentials, (k, d) and (k,).
    chains
        Whether these are those of exact chains.
    """
    mean, scale, dim = draws.mean(axis=0), spread(draws), archive.dim
    radii, from_mean = (np.linalg.norm((some - mean) / scale, axis=1) for some in (draws, exact[0]))
    middle, half = float(np.median(radii)), np.sqrt(2.0)
    near = np.flatnonzero((from_mean > middle / half) & (from_mean < middle * half) & np.isfinite(exact[1]))
    if not len(near):
        return 0.0
    count, times = tuning.stretches[chains]
    near = rng.permutation(near) if chains else near[np.argsort(np.abs(from_mean[near] - middle))]
    near, first = near[:count], 2.0 if chains else half * float(radii.max()) / middle
    # Sets are a factor of two wide: the next one begins where one ends.
    factors = first * 2.0 ** np.arange(times)
    stretched = (mean + factors[:, None, None] * (exact[0][near] - mean)).reshape(-1, dim)
    with np.errstate(over="ignore", invalid="ignore"):
        there = np.abs(archive.bend.forward(stretched)).max(axis=1) < FARTHEST
    if archive.affordable(stretched[there]) < there.sum():
        return 0.0
    values = np.full(len(stretched), np.inf)
    values[there] = [one.value for one in archive.evaluate(stretched[there], STAGE, gradient=False)]
    rises = values.reshape(len(factors), -1) - exact[1][near]
    within = (radii > middle / half) & (radii < middle * half)
    ratios = within.mean() * np.exp(np.minimum(dim * np.log(factors)[:, None] - rises, tuning.highest))
    lower = ratios.mean(axis=1) - 2.0 * ratios.std(axis=1) / np.sqrt(len(near))
    edges = middle * factors[:, None] * [1.0 / half, half]
    own = ((radii > edges[:, :1]) & (radii < edges[:, 1:])).mean(axis=1)
    missing = np.maximum(lower - own, 0.0)
    return float(missing @ ((factors * middle) ** 2 / dim - 1.0) / np.sqrt(2.0))
