"""Exact gradients where the potential has them, differences of values where it does not."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_start import Differences
from rnshmc.types import Array


def difference_step(noise: float, tuning: Differences) -> float:
    """Whitened step of differences of values whose noise has a standard deviation of ``noise``.

    Over a step h, noise leaves an error of 2^0.5 noise / h, and a curvature that is wrong by a factor of two one of
    h / 2. Their sum is smallest near h = 2 noise^0.5.
    """
    return float(np.clip(2.0 * np.sqrt(noise), tuning.step, tuning.longest))


def slope_noise(archive: Archive, tuning: Differences) -> float:
    """Standard deviation of the noise of a component of a whitened gradient by differences; 0 for exact gradients."""
    if archive.has_gradient:
        return 0.0
    return float(np.sqrt(2.0)) * archive.noise / difference_step(archive.noise, tuning)


def evaluate_with_gradients(
    archive: Archive, points: Array, whitening: Whitening, tuning: Differences, stage: str
) -> list[Evaluation]:
    """Evaluations of the rows of ``points``, in order, with gradients.

    Without gradients of the potential, they are one-sided differences along the whitened axes: d more values for each
    point, all in one batch. The term of an identity Hessian is subtracted, so that they are exact for a whitened
    Gaussian.
    """
    if archive.has_gradient:
        return archive.evaluate(points, stage)
    d, step = archive.dim, difference_step(archive.noise, tuning)
    shifts = np.broadcast_to(whitening.unwhiten(step * np.eye(d)) - whitening.centre, (len(points), d, d))
    batch = np.concatenate((points[:, None], points[:, None] + shifts), axis=1).reshape(-1, d)
    found = archive.evaluate(batch, stage, gradient=False)
    differences = [_difference(found[k * (d + 1) : (k + 1) * (d + 1)], whitening, step) for k in range(len(points))]
    for one in differences:
        archive.keep_difference(one)
    return differences


def _difference(found: list[Evaluation], whitening: Whitening, step: float) -> Evaluation:
    centre, ahead = found[0], found[1:]
    values = np.array([one.value for one in ahead])
    if not np.isfinite(centre.value) or not np.isfinite(values).all():
        return centre
    values = values - centre.value
    slopes = values / step - 0.5 * step
    return Evaluation(centre.point, centre.value, whitening.factor @ slopes, None)
