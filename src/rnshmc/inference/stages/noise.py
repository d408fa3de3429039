"""Whether a potential is noisy: exact values next to known ones, where a fit cannot tell noise from a bad fit."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.surrogates.gradient_kernel import NUGGETS
from rnshmc.types import Array

STAGE = "noise"
NOISY = 0.1
"""Standard deviation of noise that is worth a warning."""
PAIRS, APART = 8, 1e-5
"""Pairs of points, and their whitened distance: nothing smooth changes by NOISY over it."""


def noise_of(archive: Archive, posterior: SurrogatePosterior, rng: np.random.Generator) -> float:
    """Standard deviation of the noise of values, by differences between neighbours; 0 unless the fit speaks of noise.

    Raises
    ------
    BudgetSpent
        If the budget ends within the exact values, eight of them.
    """
    if posterior.kernel.nugget < NUGGETS[-1] or posterior.kernel.noise < NOISY:
        return 0.0
    known = archive.training()
    lowest = np.argsort(known.values, kind="stable")[:PAIRS]
    z = posterior.whitening.whiten(known.points[lowest])
    steps = rng.standard_normal(z.shape)
    steps *= APART / np.linalg.norm(steps, axis=1)[:, None]
    found = archive.evaluate(posterior.whitening.unwhiten(z + steps), STAGE, gradient=False)
    return _sd(np.array([one.value for one in found]) - known.values[lowest])


def _sd(differences: Array) -> float:
    finite = differences[np.isfinite(differences)]
    return float(np.sqrt(0.5 * (finite**2).mean())) if len(finite) else 0.0
