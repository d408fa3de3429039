"""From training points to a process of the potential in whitened coordinates."""

from dataclasses import dataclass

import numpy as np
from loop.density import Covariance, DensityEmulator, fit_density
from loop.tuning import COVARIANCES

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.learning import compressed, errors_far_up
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
    heights, slopes = compressed(near.values - offset, whitening.slopes(near.gradients), ceiling)
    errors = errors_far_up(points, heights, slopes, tuning)
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
