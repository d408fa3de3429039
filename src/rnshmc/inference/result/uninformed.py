"""Directions that the data do not inform."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import Judging
from rnshmc.types import Array


def flat_directions(whitening: Whitening | None, archive: Archive, limits: Judging) -> Array:
    """Directions along which the density hardly changes over the distance between the points.

    Those whose slopes, squared, times the variance of the points come to nothing, where the points are as far apart as
    draws would be by the curvature. That is so in any units of the parameters.
    """
    known = archive.slopes()
    if whitening is None or len(known.points) <= archive.dim:
        return np.zeros((0, archive.dim))
    z, slopes = whitening.whiten(known.points), whitening.slopes(known.gradients)
    # Further out, squares of slopes leave nothing of the others.
    near = (np.abs(z) < limits.vast).all(axis=1) & (np.abs(slopes) < limits.vast).all(axis=1)
    z, slopes = z[near], slopes[near]
    if len(z) <= archive.dim:
        return np.zeros((0, archive.dim))
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(z.T)))
    root = axes * np.sqrt(np.maximum(variances, 0.0))
    changes, turned = np.linalg.eigh((slopes @ root).T @ (slopes @ root) / len(z))
    moves = root @ turned
    apart = np.linalg.norm(moves, axis=0)
    directions = whitening.steps(moves.T).T
    directions /= np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)
    return np.asarray(directions[:, (changes < limits.level**2) & (apart > limits.apart_points)].T)
