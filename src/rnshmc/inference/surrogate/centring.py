"""The centre of a hierarchy, from gradients: along it, with what is centred on it, a potential hardly changes."""

from dataclasses import replace

import numpy as np

from rnshmc.inference.tuning import Bending
from rnshmc.inference.warp import SCALES, SHIFTS, WarpLayer
from rnshmc.types import Array


def centring(points: Array, gradients: Array, tuning: Bending) -> WarpLayer | None:
    """x_j = y_j + b_j x_c for the other j, with the centre c; None where gradients show no centre.

    Of effects around a mean it is what they are apart from the mean that a scale drives. Where that scale is small, the
    potential is steep but along e_c + sum_j b_j e_j, so that dU/dx_c = -sum_j b_j dU/dx_j nearly, and c is the
    coordinate of which least squares leave the smallest share. Steeper gradients tell b better and count more, by the
    root of their length.

    Parameters
    ----------
    points, gradients
        Shape (n, d), n > d.
    """
    lengths = np.linalg.norm(gradients * points.std(axis=0), axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
        return None
    slopes = gradients / np.sqrt(lengths)[:, None]
    fits = [_by_others(slopes, c) for c in range(points.shape[1])]
    c = int(np.argmin([share for share, _ in fits]))
    share, found = fits[c]
    if not share < tuning.level:
        return None
    near = np.round(found)
    shifts = np.zeros((SHIFTS, len(found)))
    shifts[1] = np.where(np.abs(found - near) < tuning.near, near, found)
    return WarpLayer(c, 0.0, 1.0, shifts, np.zeros((SCALES, len(found))), np.ones(len(found)))


def recentred(layer: WarpLayer, c: int) -> WarpLayer:
    """The same centring on another centre: along the same combination a potential hardly changes.

    Of effects around a mean, any one is a centre of the others and of the mean by that.
    """
    along = np.where(np.arange(layer.shifts.shape[1]) == layer.driver, 1.0, layer.shifts[1])
    shifts = np.zeros(layer.shifts.shape)
    shifts[1] = np.where(np.arange(len(along)) == c, 0.0, along / along[c])
    return replace(layer, driver=c, shifts=shifts)


def _by_others(slopes: Array, c: int) -> tuple[float, Array]:
    """Share of the slopes by x_c, per degree of freedom, that those by the others leave, and b, (d,)."""
    n, dim = slopes.shape
    found, others = np.zeros(dim), np.flatnonzero(np.arange(dim) != c)
    found[others] = np.linalg.lstsq(slopes[:, others], -slopes[:, c], rcond=None)[0]
    left, total = slopes[:, c] + slopes @ found, float(slopes[:, c] @ slopes[:, c])
    return (float(left @ left) / total * n / (n - dim + 1) if total > 0.0 else np.inf), found
