"""How a process of the potential is fitted to values and gradients: in all directions, or in those that need one."""

from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.subspace import Subspace, SubspaceKernel
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Fitting
from rnshmc.surrogates.gradient_kernel import NUGGETS, GradientKernel
from rnshmc.types import Array

Process = GradientKernel | SubspaceKernel
"""A process of the potential in whitened coordinates."""


@dataclass(frozen=True, eq=False)
class _Given:
    """Whitened points (n, d), potentials (n,), their gradients (n, d), and standard deviations of errors (n, 2)."""

    points: Array
    heights: Array
    slopes: Array
    errors: Array


def learnt(
    near: Training,
    whitening: Whitening,
    offset: float,
    rng: np.random.Generator,
    tuning: Fitting,
    *,
    like: Process | None,
    lengths: tuple[float, ...],
) -> Process:
    """The process of the potential less ``offset``, through values and gradients at training points.

    Parameters
    ----------
    like, lengths
        As `rnshmc.inference.surrogate.posterior.fit_posterior`.
    """
    heights, slopes = near.values - offset, whitening.slopes(near.gradients)
    ceiling = tuning.ceiling * tuning.plausible_height(len(whitening.centre))
    points = whitening.whiten(near.points)
    errors = errors_far_up(points, *compressed(heights, slopes, ceiling), tuning)
    given = _Given(points, heights, slopes, errors)
    nuggets: tuple[float, ...] = NUGGETS
    if like is not None:
        lengths, nuggets = (like.relative_length,), (like.nugget,)
    subspace = _subspace(given, ceiling, tuning)
    along = given if subspace is None else _along(given, subspace)
    targets, slopes = compressed(along.heights, along.slopes, ceiling)
    process = GradientKernel.fit(
        along.points,
        targets,
        rng=rng,
        grad=slopes,
        prior=tuning.prior,
        most_amplitude=tuning.most_amplitude,
        lengths=lengths,
        nuggets=nuggets,
        errors=along.errors,
        amplitude=None if like is None else like.amplitude,
    )
    return process if subspace is None else SubspaceKernel(process, subspace, float(targets.min()), given.points)


def compressed(heights: Array, slopes: Array, ceiling: float) -> tuple[Array, Array]:
    """Above the ceiling C, C (1 + log(U / C)): smooth, so that a cliff bends no process where the posterior is."""
    shrink = ceiling / np.maximum(heights, ceiling)
    return np.where(shrink < 1.0, ceiling * (1.0 - np.log(shrink)), heights), slopes * shrink[:, None]


def _subspace(given: _Given, ceiling: float, tuning: Fitting) -> Subspace | None:
    """The directions of the process; None for all of them."""
    (n, dim), sloped = given.points.shape, np.isfinite(given.slopes).all(axis=1)
    if dim <= tuning.whole or not sloped.any():
        return None
    most = max(1, (tuning.most_rows - n) // int(sloped.sum()))
    trusted = ceiling / np.maximum(given.heights, ceiling)
    residuals = trusted[:, None] * (given.slopes - given.points)
    return Subspace.of(residuals[sloped], most=most, small=tuning.neglected)


def _along(given: _Given, subspace: Subspace) -> _Given:
    """What is given of K: what the subspace leaves makes it inexact."""
    left = [0.5 * subspace.neglected, subspace.neglected / given.points.shape[1]]
    return replace(
        given,
        points=given.points @ subspace.basis,
        heights=given.heights - subspace.across(given.points),
        slopes=given.slopes @ subspace.basis,
        errors=np.sqrt(given.errors**2 + left),
    )


def errors_far_up(points: Array, heights: Array, slopes: Array, tuning: Fitting) -> Array:
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
