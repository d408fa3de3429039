"""Gaussian processes of unit variance conditioned on values and gradients: the linear algebra of `GradientKernel`."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import lapack

from rnshmc.errors import FitError
from rnshmc.types import Array

SEARCH_ROWS = 2500
"""Equations in the system by which length and noise are chosen; more points than fit into it are left out."""
ROUNDS = 2
"""Systems solved where points have errors of their own, each relative to the variance of the process by the last."""


@dataclass(frozen=True)
class Solution:
    """Weights of values (n,) and of gradients times l (n, dim), mean, variance and log likelihood of the process.

    ``factor`` is that of the covariance of what is given (`factorise`), ``errors`` (n, 2) are those of value and slopes
    in units of the process's standard deviation.
    """

    alpha: Array
    beta: Array
    mean: float
    variance: float
    log_likelihood: float
    factor: Array
    errors: Array


def squared_exponential(x: Array, z: Array) -> Array:
    """exp(-|x - z|^2 / 2) for the rows of both, (m, n)."""
    squared = (x**2).sum(axis=1)[:, None] + (z**2).sum(axis=1) - 2.0 * x @ z.T
    return np.asarray(np.exp(-0.5 * np.maximum(squared, 0.0)))


def expand(q: Array, solved: Solution, length: float) -> Array:
    """The conditioned process at its own points, (n,)."""
    x = q / length
    # The points are their own centres.
    inner = solved.alpha + x @ solved.beta.T - (solved.beta * x).sum(axis=1)
    return np.asarray((squared_exponential(x, x) * inner).sum(axis=1) + solved.mean)


def spread(points: Array) -> float:
    """Root mean squared distance of the points from their mean, the unit of length scales."""
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
) -> tuple[float, float]:
    """Length and nugget that maximise the likelihood, one after the other; the length once more if noise is chosen."""
    if len(lengths) == len(nuggets) == 1:
        return lengths[0], nuggets[0]
    rows = 1 + points.shape[1] * np.isfinite(slopes).all(axis=1).mean()
    most = max(2, int(SEARCH_ROWS / rows))
    if len(points) > most:
        some = rng.choice(len(points), most, replace=False)
        points, values, slopes, errors = points[some], values[some], slopes[some], errors[some]

    def likelihood(length: float, nugget: float) -> tuple[float, float]:
        try:
            solved = solve(points, values, slopes, length, nugget, errors)
        except FitError:
            return -math.inf, -math.inf
        excess = max(math.sqrt(solved.variance) - most_amplitude, 0.0)
        return -excess, solved.log_likelihood

    def best_length(nugget: float) -> float:
        return max(lengths, key=lambda length: likelihood(length, nugget))

    length = best_length(nuggets[0])
    nugget = max(nuggets, key=lambda nugget: likelihood(length, nugget))
    return (length if nugget == nuggets[0] else best_length(nugget)), nugget


def solve(points: Array, values: Array, slopes: Array, length: float, nugget: float, errors: Array) -> Solution:
    """Condition the process of unit variance, then scale: generalised least squares for its mean.

    Parameters
    ----------
    errors
        Standard deviations of the errors of each value and of the components of its slope, besides the nugget, (n, 2).

    Raises
    ------
    FitError
        If the system is not positive definite in doubles.
    """
    scaled = errors * [1.0, length]
    if not errors.any():
        return _conditioned(points, values, slopes, length, nugget, scaled)
    # Errors are absolute, the system is in units of a process whose standard deviation follows from it.
    variance = float(np.var(values[errors[:, 0] <= np.median(errors[:, 0])])) or 1.0
    for _ in range(ROUNDS):
        solved = _conditioned(points, values, slopes, length, nugget, scaled / math.sqrt(variance))
        variance = solved.variance
    return solved


def _conditioned(
    points: Array, values: Array, slopes: Array, length: float, nugget: float, relative: Array
) -> Solution:
    n, dim = points.shape
    with_slopes = np.isfinite(slopes).all(axis=1)
    given = _given(with_slopes, dim)
    targets = np.column_stack((values, slopes * length)).ravel()[given]
    constant = np.column_stack((np.ones(n), np.zeros((n, dim)))).ravel()[given]
    factor = factorise(points, with_slopes, length, nugget, relative)
    solved = linalg.cho_solve((factor, True), np.column_stack((targets, constant)), check_finite=False)
    mean = float(constant @ solved[:, 0] / (constant @ solved[:, 1]))
    weights = solved[:, 0] - mean * solved[:, 1]
    rows = len(targets)
    variance = max(float((targets - mean * constant) @ weights) / rows, float(np.finfo(float).tiny))
    log_likelihood = -0.5 * rows * math.log(variance) - float(np.log(factor.diagonal()).sum())
    log_likelihood += (rows - n) * math.log(length)
    full = np.zeros(n * (dim + 1))
    full[given] = weights
    full = full.reshape(n, dim + 1)
    return Solution(full[:, 0].copy(), full[:, 1:].copy(), mean, variance, log_likelihood, factor, relative)


def conditional_covariance(
    points: Array, with_slopes: npt.NDArray[np.bool_], length: float, factor: Array, at: Array
) -> Array:
    """Covariance (m, m) of the process of unit variance at the rows of ``at``, given values and gradients at points.

    Parameters
    ----------
    with_slopes
        Points whose gradient is given, too, shape (n,).
    factor
        As `factorise`.
    """
    n, dim = points.shape
    x, z = points / length, at / length
    cross = np.empty((len(z), n, dim + 1))
    cross[:, :, 0] = squared_exponential(z, x)
    cross[:, :, 1:] = cross[:, :, :1] * (z[:, None] - x)
    explained = linalg.solve_triangular(
        factor, cross.reshape(len(z), -1)[:, _given(with_slopes, dim)].T, lower=True, check_finite=False
    )
    return np.asarray(squared_exponential(z, z) - explained.T @ explained)


def factorise(points: Array, with_slopes: npt.NDArray[np.bool_], length: float, nugget: float, errors: Array) -> Array:
    """Cholesky factor of the covariance of values and, where there are, gradients; only its lower triangle is set.

    ``errors`` are those of values and of gradients times l, in units of the process's standard deviation, (n, 2).

    Raises
    ------
    FitError
        As `solve`.
    """
    given = _given(with_slopes, points.shape[1])
    matrix = _gram(points / length, given)
    own = np.column_stack((errors[:, :1], np.repeat(errors[:, 1:], points.shape[1], axis=1)))
    matrix[np.diag_indices_from(matrix)] += nugget + own.ravel()[given] ** 2
    # The transpose is the same matrix in the column order of LAPACK, so that nothing is copied.
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise FitError(f"the covariance of {len(points)} training points is not positive definite")
    return np.asarray(factor)


def _given(with_slopes: npt.NDArray[np.bool_], dim: int) -> npt.NDArray[np.bool_]:
    """Which of value and gradient times l are given, point by point, (n (dim + 1),)."""
    return np.column_stack((np.ones(len(with_slopes), dtype=bool), np.repeat(with_slopes[:, None], dim, 1))).ravel()


def _gram(x: Array, given: npt.NDArray[np.bool_]) -> Array:
    """Covariance of values and of gradients times l, at scaled positions, of what is given."""
    n, dim = x.shape
    kernel = squared_exponential(x, x)
    if not given.reshape(n, dim + 1)[:, 1:].any():
        return kernel
    apart = kernel[:, :, None] * (x[:, None, :] - x[None])
    gram = np.empty((n, dim + 1, n, dim + 1))
    gram[:, 0, :, 0] = kernel
    gram[:, 0, :, 1:] = apart
    gram[:, 1:, :, 0] = -apart.transpose(0, 2, 1)
    for i in range(dim):
        gram[:, 1 + i, :, 1:] = apart * (x[None, :, i, None] - x[:, None, i, None])
        gram[:, 1 + i, :, 1 + i] += kernel
    rows = n * (dim + 1)
    if given.all():
        return gram.reshape(rows, rows)
    chosen: Array = gram.reshape(rows, rows)[np.ix_(given, given)]
    return chosen
