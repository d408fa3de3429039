"""Whether a potential is noisy, by exact values next to known ones: a fit cannot tell noise from a bad fit."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.tuning import Noise
from rnshmc.surrogates.gradient_kernel import NUGGETS
from rnshmc.types import Array

STAGE = "noise"


def noise_of(archive: Archive, posterior: SurrogatePosterior, rng: np.random.Generator, tuning: Noise) -> float:
    """Standard deviation of the noise of values, by differences between neighbours; 0 unless the fit suggests noise.

    Raises
    ------
    BudgetSpent
        If the budget ends within the exact values, eight of them.
    """
    if posterior.kernel.nugget < NUGGETS[-1] or posterior.kernel.noise < tuning.noisy:
        return 0.0
    known = archive.training()
    lowest = np.argsort(known.values, kind="stable")[: tuning.pairs]
    z = posterior.whitening.whiten(known.points[lowest])
    steps = rng.standard_normal(z.shape)
    steps *= tuning.apart / np.linalg.norm(steps, axis=1)[:, None]
    found = archive.evaluate(posterior.whitening.unwhiten(z + steps), STAGE, gradient=False)
    return _sd(np.array([one.value for one in found]) - known.values[lowest])


def _sd(differences: Array) -> float:
    finite = differences[np.isfinite(differences)]
    return float(np.sqrt(0.5 * (finite**2).mean())) if len(finite) else 0.0
