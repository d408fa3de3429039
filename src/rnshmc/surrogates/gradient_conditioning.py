"""Gaussian processes of unit variance conditioned on values and gradients: the linear algebra of `GradientKernel`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import lapack

from rnshmc.errors import FitError
from rnshmc.factors import log_diagonal
from rnshmc.types import Array

SEARCH_ROWS = 2500
"""Maximum equations in the system for choosing length and noise; excess points are left out."""
ROUGH_ROWS = 800
"""Equations in the smaller system that starts the search for a length: a thirtieth of the operations."""
ROUNDS = 2
"""Maximum systems solved if points have individual errors, each relative to the variance from the previous solve."""
NEAR = 1.5
"""Factor within which the variance used for relative errors has to agree with the process's; then the solves end."""


@dataclass(frozen=True)
class Solution:
    """Weights of values (n,) and of gradients times l (n, dim), mean, variance and log likelihood of the process.

    ``with_slopes`` marks the points with a gradient, (n,); ``factor`` is the Cholesky factor of the data's covariance
    (`factorise`); ``errors``, (n, 2), are those of values and slopes in units of the process's standard deviation.
    """

    alpha: Array
    beta: Array
    mean: float
    variance: float
    log_likelihood: float
    with_slopes: npt.NDArray[np.bool_]
    factor: Array
    errors: Array


def squared_exponential(x: Array, z: Array) -> Array:
    """exp(-|x - z|^2 / 2) for the rows of both, (m, n)."""
    # All three terms of the square in one product: the cost is in passes over (m, n).
    left = np.column_stack((x, -0.5 * (x**2).sum(axis=1), np.ones(len(x))))
    right = np.column_stack((z, np.ones(len(z)), -0.5 * (z**2).sum(axis=1)))
    exponents = left @ right.T
    np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents)
    return np.asarray(exponents)


def spread(points: Array) -> float:
    """Root mean square distance of the points from their mean, the unit of length scales."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def search(
    points: Array,
    values: Array,
    slopes: Array,
    lengths: list[float],
    nuggets: tuple[float, ...],
    most_amplitude: float,
    rng: np.random.Generator,
    errors: Array,
    variance: float | None = None,
) -> tuple[float, float, float | None]:
    """Maximise the likelihood over length, then nugget, then length again unless the first nugget is best.

    The search for the length starts at the best one for fewer points and climbs to the nearest maximum. The result
    includes the latest estimate of the process's variance; ``variance`` is an earlier estimate.
    """
    if len(lengths) == len(nuggets) == 1:
        return lengths[0], nuggets[0], variance
    rows = 1 + points.shape[1] * np.isfinite(slopes).all(axis=1).mean()
    most = max(2, int(SEARCH_ROWS / rows))
    if len(points) > most:
        some = rng.choice(len(points), most, replace=False)
        points, values, slopes, errors = points[some], values[some], slopes[some], errors[some]

    def tried_by(every: int, known: Callable[[int], float | None]) -> Callable[[int, int], _Tried]:
        given = points[::every], values[::every], slopes[::every]

        @cache
        def tried(length: int, nugget: int) -> _Tried:
            try:
                solved = solve(*given, lengths[length], nuggets[nugget], errors[::every], known(length))
            except FitError:
                return _Tried((-math.inf, -math.inf), None)
            excess = max(math.sqrt(solved.variance) - most_amplitude, 0.0)
            return _Tried((-excess, solved.log_likelihood), solved.variance)

        return tried

    roughly = tried_by(math.ceil(len(points) * rows / ROUGH_ROWS), lambda _: variance)
    tried = tried_by(1, lambda length: roughly(length, 0).variance)
    start = max(range(len(lengths)), key=lambda length: roughly(length, 0).height)
    length = _climbed(lambda length: tried(length, 0).height, start, len(lengths))
    nugget = _climbed(lambda nugget: tried(length, nugget).height, 0, len(nuggets))
    if nugget > 0:
        length = _climbed(lambda length: tried(length, nugget).height, length, len(lengths))
    return lengths[length], nuggets[nugget], tried(length, nugget).variance


@dataclass(frozen=True)
class _Tried:
    """Criterion of a candidate, and variance of the process; None if its system cannot be solved."""

    height: tuple[float, float]
    variance: float | None


def _climbed(height: Callable[[int], tuple[float, float]], start: int, count: int) -> int:
    """Climb from neighbour to neighbour among ``count`` candidates to a maximum, skipping unsolvable ones."""
    best = start
    for step in (1, -1):
        at = start + step
        while 0 <= at < count and (height(at) > height(best) or height(at)[0] == -math.inf == height(best)[0]):
            best, at = (at if height(at) > height(best) else best), at + step
    return best


def solve(
    points: Array,
    values: Array,
    slopes: Array,
    length: float,
    nugget: float,
    errors: Array,
    variance: float | None = None,
) -> Solution:
    """Condition the process of unit variance, with its mean by generalised least squares, then scale.

    ``errors``, (n, 2), are standard deviations of the errors of each value and each gradient component, besides the
    nugget; ``variance`` is that of the process, as far as it is known, or None for that of the values with the smaller
    errors. Raises `FitError` if the system is not positive definite in doubles.
    """
    scaled = errors * [1.0, length]
    if not errors.any():
        return _conditioned(points, values, slopes, length, nugget, scaled)
    # Errors are absolute, but the system is in units of the process's standard deviation, which it determines.
    if variance is None:
        variance = float(np.var(values[errors[:, 0] <= np.median(errors[:, 0])])) or 1.0
    for _ in range(ROUNDS):
        solved = _conditioned(points, values, slopes, length, nugget, scaled / math.sqrt(variance))
        if 1.0 / NEAR < solved.variance / variance < NEAR:
            break
        variance = solved.variance
    return solved


def _conditioned(
    points: Array, values: Array, slopes: Array, length: float, nugget: float, relative: Array
) -> Solution:
    n, dim = points.shape
    with_slopes = np.isfinite(slopes).all(axis=1)
    targets = np.concatenate((values, (slopes[with_slopes] * length).T.ravel()))
    rows = len(targets)
    constant = (np.arange(rows) < n).astype(np.float64)
    factor = factorise(points, with_slopes, length, nugget, relative)
    solved = linalg.cho_solve((factor, True), np.column_stack((targets, constant)), check_finite=False)
    mean = float(constant @ solved[:, 0] / (constant @ solved[:, 1]))
    weights = solved[:, 0] - mean * solved[:, 1]
    variance = max(float((targets - mean * constant) @ weights) / rows, float(np.finfo(float).tiny))
    log_likelihood = -0.5 * rows * math.log(variance) - float(log_diagonal(factor).sum())
    log_likelihood += (rows - n) * math.log(length)
    beta = np.zeros((n, dim))
    beta[with_slopes] = weights[n:].reshape(dim, -1).T
    return Solution(weights[:n].copy(), beta, mean, variance, log_likelihood, with_slopes, factor, relative)


def conditional_covariance(
    points: Array, with_slopes: npt.NDArray[np.bool_], length: float, factor: Array, at: Array
) -> Array:
    """Covariance (m, m) of the process of unit variance at the rows of ``at``, given values and gradients at points.

    The gradients are given at the points that ``with_slopes``, (n,), marks; ``factor`` is that of `factorise`.
    """
    x, z = points / length, at / length
    kernel, slopes = squared_exponential(z, x), x[with_slopes]
    crossed = kernel[:, with_slopes] * (z.T[:, :, None] - slopes.T[:, None, :])
    cross = np.concatenate((kernel.T, crossed.transpose(0, 2, 1).reshape(-1, len(z))))
    explained = linalg.solve_triangular(factor, cross, lower=True, check_finite=False)
    return np.asarray(squared_exponential(z, z) - explained.T @ explained)


def factorise(points: Array, with_slopes: npt.NDArray[np.bool_], length: float, nugget: float, errors: Array) -> Array:
    """Cholesky factor of the covariance of values and available gradients; only its lower triangle is set.

    All values come first, then all derivatives along the first coordinate, and so on: blocks are contiguous. ``errors``
    are those of values and of gradients times l, in units of the process's standard deviation, (n, 2). Raises
    `FitError` as `solve`.
    """
    matrix = _gram(points / length, with_slopes)
    own = np.concatenate((errors[:, 0], np.tile(errors[with_slopes, 1], points.shape[1])))
    matrix[np.diag_indices_from(matrix)] += nugget + own**2
    # The lower triangle of the transpose, in LAPACK's column order, which avoids a copy.
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise FitError(f"the covariance of {len(points)} training points is not positive definite")
    return np.asarray(factor)


def _gram(x: Array, with_slopes: npt.NDArray[np.bool_]) -> Array:
    """Covariance of values and of gradients times l, at scaled positions; only its upper triangle is set."""
    (n, dim), m = x.shape, int(with_slopes.sum())
    kernel = squared_exponential(x, x)
    if not m:
        return kernel
    gram = np.empty((n + dim * m, n + dim * m))
    gram[:n, :n] = kernel
    kernel = kernel[:, with_slopes]
    apart = x.T[:, :, None] - x[with_slopes].T[:, None, :]
    weighted = apart * kernel
    gram[:n, n:].reshape(n, dim, m)[:] = weighted.transpose(1, 0, 2)
    kernel, apart, weighted = kernel[with_slopes], apart[:, with_slopes], weighted[:, with_slopes]
    for i in range(dim):
        block = gram[n + i * m : n + (i + 1) * m, n:].reshape(m, dim, m)[:, i:]
        np.multiply(weighted[i:].transpose(1, 0, 2), -apart[i][:, None], out=block)
        block[:, 0] += kernel
    return gram
