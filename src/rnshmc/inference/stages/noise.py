"""Noise of exact values, measured between neighbouring points, where nothing smooth changes."""

import logging

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.tuning_start import Noise
from rnshmc.surrogates.gradient_kernel import NUGGETS, GradientKernel
from rnshmc.types import Array

_log = logging.getLogger(__name__)

STAGE = "noise"


def measure_noise(archive: Archive, posterior: SurrogatePosterior, rng: np.random.Generator, tuning: Noise) -> None:
    """Measure the noise of values by differences between neighbours, if the fit suggests noise: a fit cannot tell it.

    The archive keeps it.

    Raises
    ------
    BudgetSpent
        If the budget ends within the exact values, eight of them.
    """
    kernel = posterior.kernel
    if not isinstance(kernel, GradientKernel) or kernel.nugget < NUGGETS[-1] or kernel.noise < tuning.noisy:
        return
    known = archive.training()
    lowest = np.argsort(known.values, kind="stable")[: tuning.pairs]
    z = posterior.whitening.whiten(known.points[lowest])
    steps = rng.standard_normal(z.shape)
    steps *= tuning.apart / np.linalg.norm(steps, axis=1)[:, None]
    found = archive.evaluate(posterior.whitening.unwhiten(z + steps), STAGE, gradient=False)
    archive.journal.noise.append((_sd(np.array([one.value for one in found]) - known.values[lowest]), -np.inf))


def noise_at(archive: Archive, first: Evaluation, axis: Array, tuning: Noise, stage: str) -> float:
    """Standard deviation of the noise of values at the start, from the residuals of a parabola through five neighbours.

    Takes four values, and four more at a shorter distance where these are noisy. Noise is as large there, and counts by
    the mean square of both; what is smooth vanishes, and the second one counts alone. The archive keeps it until the
    start turns out to be so high that this is no more than the relative accuracy of a large number.

    Parameters
    ----------
    first
        The start, of finite potential.
    axis
        Step in x of about the size of the coordinates, shape (d,).
    """
    noise = _residual(archive, first, tuning.neighbours * axis, stage)
    if noise > tuning.felt:
        nearer = _residual(archive, first, tuning.nearer * tuning.neighbours * axis, stage)
        noise = float(np.hypot(noise, nearer) / np.sqrt(2.0)) if nearer > tuning.vanished * noise else nearer
    if noise > tuning.felt:
        archive.journal.noise.append((noise, first.value - noise / tuning.accuracy))
    if archive.noise >= noise > tuning.noisy:
        _log.warning("target: the log density is noisy: between neighbours of x0 it differs by about %.2g", noise)
    return noise


def _residual(archive: Archive, first: Evaluation, step: Array, stage: str) -> float:
    """Noise of five equidistant values, by their third and fourth differences; 0 where one is not finite."""
    found = archive.evaluate(first.point + np.array([[-2.0], [-1.0], [1.0], [2.0]]) * step, stage, gradient=False)
    u = np.array([one.value for one in found]) - first.value
    if not np.isfinite(u).all():
        return 0.0
    third, fourth = u[3] - 2.0 * u[2] + 2.0 * u[1] - u[0], u[3] - 4.0 * u[2] - 4.0 * u[1] + u[0]
    return float(np.hypot(third / np.sqrt(20.0), fourth / np.sqrt(140.0)))


def _sd(differences: Array) -> float:
    finite = differences[np.isfinite(differences)]
    return float(np.sqrt(0.5 * (finite**2).mean())) if len(finite) else 0.0
