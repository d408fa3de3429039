"""From training points to a process of the potential in whitened coordinates."""

from dataclasses import dataclass

import numpy as np
from loop.density import Covariance, DensityEmulator, fit_density
from loop.tuning import COVARIANCES

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Fitting
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Search:
    """A covariance to begin with, and whether a likelier one is searched."""

    like: Covariance | None = None
    on: bool = True


def learnt(
    near: Training,
    whitening: Whitening,
    offset: float,
    rng: np.random.Generator,
    tuning: Fitting,
    *,
    extent: float,
    search: Search,
) -> DensityEmulator:
    """The process of the potential less ``offset``, through values and gradients at training points.

    Parameters
    ----------
    extent
        Whitened distance of the farthest point where it is evaluated.

    Raises
    ------
    FitError
        If the system cannot be solved.
    """
    ceiling = tuning.ceiling * tuning.plausible_height(len(whitening.centre))
    points = whitening.whiten(near.points)
    heights, slopes = _compressed(near.values - offset, whitening.slopes(near.gradients), ceiling)
    errors = _errors(points, heights, slopes, tuning)
    basis = _directions(points, near.values - offset, slopes, ceiling, tuning)
    return fit_density(
        points,
        heights,
        slopes,
        errors,
        rng,
        COVARIANCES,
        basis=basis,
        extent=extent,
        like=search.like,
        search=search.on,
    )


def _compressed(heights: Array, slopes: Array, ceiling: float) -> tuple[Array, Array]:
    """Above the ceiling C, C (1 + log(U / C)): smooth, so that a cliff bends no process where the posterior is."""
    shrink = ceiling / np.maximum(heights, ceiling)
    return np.where(shrink < 1.0, ceiling * (1.0 - np.log(shrink)), heights), slopes * shrink[:, None]


def _directions(points: Array, heights: Array, slopes: Array, ceiling: float, tuning: Fitting) -> tuple[Array, float]:
    """Orthonormal directions (d, r) of the process, and the mean squared length of residual gradients across them.

    All of up to `Fitting.whole`; of more, the fewest that leave `Fitting.neglected`, but no more than equations allow.
    Where residual gradients are E z with a symmetric matrix E, half of what is left is the variance of z'E z / 2.
    """
    (n, dim), sloped = points.shape, np.isfinite(slopes).all(axis=1)
    if dim <= tuning.whole or not sloped.any():
        return np.eye(dim), 0.0
    most = max(1, (tuning.most_rows - n) // int(sloped.sum()))
    trusted = ceiling / np.maximum(heights, ceiling)
    residuals = (trusted[:, None] * (slopes - points))[sloped]
    _, sizes, rows = np.linalg.svd(residuals, full_matrices=False)
    shares = sizes**2 / len(residuals)
    left = np.maximum(shares.sum() - np.cumsum(shares), 0.0)
    count = max(1, min(most, 1 + int(np.count_nonzero(left > tuning.neglected)), len(left)))
    return np.asarray(rows[:count].T), float(left[count - 1])


def _errors(points: Array, heights: Array, slopes: Array, tuning: Fitting) -> Array:
    """Standard deviations of what no process of one length explains, (n, 2): of values and slopes of a long way up.

    Where a normal density is as high, its gradient has the length sqrt(2 U). What a standard normal density explains
    far up has no error, for where the posterior is nearly normal its points far up tell most.
    """
    least = tuning.level[0] + tuning.level[1] * slopes.shape[1]
    beyond = np.column_stack((heights - least, _lengths(slopes) - np.sqrt(2.0 * least)))
    unexplained = np.column_stack((np.abs(heights - 0.5 * (points**2).sum(axis=1)), _lengths(slopes - points)))
    return np.asarray(tuning.rough * np.minimum(tuning.unexplained * unexplained, np.maximum(beyond, 0.0)))


def _lengths(slopes: Array) -> Array:
    """Norms of the rows, of which no square overflows; 0 of what is not known."""
    known = np.nan_to_num(slopes)
    largest = np.maximum(np.abs(known).max(axis=1), np.finfo(float).tiny)
    return np.asarray(largest * np.linalg.norm(known / largest[:, None], axis=1))
