"""Gaussian processes of unit variance conditioned on values and gradients: the linear algebra of `GradientKernel`."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import lapack

from rnshmc.errors import FitError
from rnshmc.factors import log_diagonal
from rnshmc.inference.surrogate.ridges import NONE, Ridges
from rnshmc.surrogates.squared_exponential import squared_exponential
from rnshmc.types import Array

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


def solve(
    points: Array,
    values: Array,
    slopes: Array,
    length: float,
    nugget: float,
    errors: Array,
    variance: float | None = None,
    ridges: Ridges = NONE,
) -> Solution:
    """Condition the process of unit variance, with its mean by generalised least squares, then scale.

    ``errors``, (n, 2), are standard deviations of the errors of each value and each gradient component, besides the
    nugget; ``variance`` is that of the process, as far as it is known, or None for that of the values with the smaller
    errors. Raises `FitError` if the system is not positive definite in doubles.
    """
    scaled = errors * [1.0, length]
    if not errors.any():
        return _conditioned(points, values, slopes, length, nugget, scaled, ridges)
    # Errors are absolute, but the system is in units of the process's standard deviation, which it determines.
    if variance is None:
        variance = float(np.var(values[errors[:, 0] <= np.median(errors[:, 0])])) or 1.0
    for _ in range(ROUNDS):
        solved = _conditioned(points, values, slopes, length, nugget, scaled / math.sqrt(variance), ridges)
        if 1.0 / NEAR < solved.variance / variance < NEAR:
            break
        variance = solved.variance
    return solved


def _conditioned(
    points: Array, values: Array, slopes: Array, length: float, nugget: float, relative: Array, ridges: Ridges
) -> Solution:
    n, dim = points.shape
    with_slopes = np.isfinite(slopes).all(axis=1)
    targets = np.concatenate((values, (slopes[with_slopes] * length).T.ravel()))
    rows = len(targets)
    constant = (np.arange(rows) < n).astype(np.float64)
    factor = factorise(points, with_slopes, length, nugget, relative, ridges)
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
    points: Array, with_slopes: npt.NDArray[np.bool_], length: float, factor: Array, at: Array, ridges: Ridges = NONE
) -> Array:
    """Covariance (m, m) of the process of unit variance at the rows of ``at``, given values and gradients at points.

    The gradients are given at the points that ``with_slopes``, (n,), marks; ``factor`` is that of `factorise`.
    """
    x, z = points / length, at / length
    kernel, slopes = squared_exponential(z, x), x[with_slopes]
    crossed = kernel[:, with_slopes] * (z.T[:, :, None] - slopes.T[:, None, :])
    cross = np.concatenate((kernel.T, crossed.transpose(0, 2, 1).reshape(-1, len(z))))
    ridges.add_cross(cross, points, with_slopes, at, length)
    explained = linalg.solve_triangular(factor, cross, lower=True, check_finite=False)
    return np.asarray(squared_exponential(z, z) + ridges.covariance(at) - explained.T @ explained)


def factorise(
    points: Array,
    with_slopes: npt.NDArray[np.bool_],
    length: float,
    nugget: float,
    errors: Array,
    ridges: Ridges = NONE,
) -> Array:
    """Cholesky factor of the covariance of values and available gradients; only its lower triangle is set.

    All values come first, then all derivatives along the first coordinate, and so on: blocks are contiguous. ``errors``
    are those of values and of gradients times l, in units of the process's standard deviation, (n, 2). Raises
    `FitError` as `solve`.
    """
    matrix = _gram(points / length, with_slopes)
    ridges.add_gram(matrix, points, with_slopes, length)
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
