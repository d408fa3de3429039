"""Exact gradients where the potential has them, differences of values where it does not."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

WHITENED_STEP = 0.1
"""Step of a difference in whitened coordinates: far above the noise of a simulator, small for the posterior."""


def evaluate_with_gradients(archive: Archive, points: Array, whitening: Whitening, stage: str) -> list[Evaluation]:
    """Evaluations of the rows of ``points``, in order, with gradients.

    Without gradients of the potential, one-sided differences along the whitened axes: d more values for each point, all
    in one batch. A whitened Hessian of ones is taken off, so that on a whitened Gaussian they are exact.
    """
    if archive.has_gradient:
        return archive.evaluate(points, stage)
    d = archive.dim
    shifts = np.broadcast_to(whitening.unwhiten(WHITENED_STEP * np.eye(d)) - whitening.centre, (len(points), d, d))
    batch = np.concatenate((points[:, None], points[:, None] + shifts), axis=1).reshape(-1, d)
    found = archive.evaluate(batch, stage, gradient=False)
    differences = [_difference(found[k * (d + 1) : (k + 1) * (d + 1)], whitening) for k in range(len(points))]
    for one in differences:
        archive.keep_difference(one)
    return differences


def _difference(found: list[Evaluation], whitening: Whitening) -> Evaluation:
    centre, ahead = found[0], found[1:]
    values = np.array([one.value for one in ahead])
    if not np.isfinite(centre.value) or not np.isfinite(values).all():
        return centre
    values = values - centre.value
    slopes = values / WHITENED_STEP - 0.5 * WHITENED_STEP
    return Evaluation(centre.point, centre.value, whitening.factor @ slopes, None)
