"""A Gaussian process fitted to values and gradients of the potential: the limit of a network with many random units."""

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import lapack

from rnshmc.errors import FitError, NumericalError, ParameterError
from rnshmc.surrogates.storage import Stored
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

LENGTHS = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Length scales that are tried, in units of sqrt(dim) times the spread of the training points."""
NUGGETS = (1e-9, 1e-7, 1e-5, 1e-3)
"""Variances of the noise that are tried, in units of the variance of the process."""
SEARCH_ROWS = 2500
"""Equations in the system by which length and noise are chosen; more points than fit into it are left out."""


@dataclass(frozen=True, eq=False)
class GradientKernel(Stored):
    """Predictive mean of a Gaussian process conditioned on values and gradients, as a potential.

        V(q) = mu + |q|^2 prior / 2 + sum_b k(q, c_b) (alpha_b + beta_b'(q - c_b) / l),  k = exp(-|q - c_b|^2 / (2 l^2))

    A process with squared-exponential covariance models the residual U(q) - |q|^2 prior / 2; with ``prior`` = 1 the
    potential is that of a standard normal density far from all points. One evaluation costs O(n dim) for n points.

    Attributes
    ----------
    centres
        Training points c_b, shape (n, dim).
    alpha, beta
        Weights of the values, (n,), and of the gradients, (n, dim).
    mean
        mu, the generalised least-squares mean of the residual.
    prior
        Curvature of the quadratic that the residual is of.
    length_scale, nugget, amplitude
        l; the variance of the noise in units of the process's; standard deviation of the process.
    log_likelihood
        Of the training set, at the amplitude that maximises it.
    train_residual_sd
        Standard deviation of V - U over the training points.
    """

    centres: Array
    alpha: Array
    beta: Array
    mean: float
    prior: float
    length_scale: float
    nugget: float
    amplitude: float
    log_likelihood: float
    train_residual_sd: float

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        grad: npt.ArrayLike | None = None,
        prior: float = 0.0,
        lengths: tuple[float, ...] = LENGTHS,
        nuggets: tuple[float, ...] = NUGGETS,
    ) -> Self:
        """Fit to potentials and their gradients.

        Parameters
        ----------
        q
            Training points, shape (n, dim).
        u
            Exact potentials, shape (n,).
        rng
            Chooses the points that length and noise are searched on, where there are too many.
        grad
            Exact gradients, shape (n, dim), a row of NaN where there is none; None for values alone.
        prior
            Curvature of the quadratic under the process, not below 0.
        lengths, nuggets
            Candidates; the marginal likelihood chooses.

        Raises
        ------
        FitError
            If the training set has the wrong shape or no candidate's system can be solved.
        ParameterError
            If ``prior`` is negative or there is no candidate.
        """
        if not prior >= 0 or not lengths or not nuggets:
            raise ParameterError(f"prior: expected at least 0, got {prior}; and at least one length and one nugget")
        points, values = training_set(q, u)
        slopes = np.full(points.shape, np.nan) if grad is None else np.asarray(grad, dtype=np.float64)
        if slopes.shape != points.shape:
            raise FitError(f"gradients have shape {slopes.shape}, the points {points.shape}")
        residuals = values - 0.5 * prior * (points**2).sum(axis=1)
        slopes = slopes - prior * points
        scale = _spread(points)
        length, nugget = _search(points, residuals, slopes, [f * scale for f in lengths], nuggets, rng)
        solved = _solve(points, residuals, slopes, length, nugget)
        fitted = cls(
            centres=points,
            alpha=solved.alpha,
            beta=solved.beta,
            mean=solved.mean,
            prior=float(prior),
            length_scale=length,
            nugget=nugget,
            amplitude=math.sqrt(solved.variance),
            log_likelihood=solved.log_likelihood,
            train_residual_sd=float(np.std(_expand(points, solved, length) - residuals)),
        )
        return fitted

    def report(self) -> dict[str, int | float | str]:
        """What is known of the fit: the number of points and every attribute that is not an array."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"points": len(self.centres)} | {k: v for k, v in numbers.items() if not isinstance(v, np.ndarray)}

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.centres.shape[1]

    @property
    def relative_length(self) -> float:
        """The length scale in the unit of the candidates of `fit`."""
        return self.length_scale / _spread(self.centres)

    def value(self, q: Array) -> float:
        """V(q) for q of shape (dim,).

        Raises
        ------
        NumericalError
            If V(q) is not finite.
        """
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        """Gradient of V at q. Raises as `value`."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """V(q) and its gradient. Raises as `value`."""
        with np.errstate(over="ignore", invalid="ignore"):
            values, gradients = self.values_and_gradients(q[None])
        if not (np.isfinite(values[0]) and np.isfinite(gradients).all()):
            raise NumericalError(f"the surrogate is asked for a position of squared norm {float(q @ q)}")
        return float(values[0]), gradients[0]

    def predict(self, q: Array) -> Array:
        """V at each row of q of shape (m, dim), as an array of shape (m,)."""
        return self.values_and_gradients(q)[0]

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """V at the rows of q of shape (m, dim), and its gradients: (m,) and (m, dim)."""
        x = q / self.length_scale
        kernel, weighted = self._terms(x)
        totals = weighted.sum(axis=1)
        values = self.mean + 0.5 * self.prior * (q**2).sum(axis=1) + totals
        slopes = kernel @ self.beta - x * totals[:, None] + weighted @ self._scaled
        return values, slopes / self.length_scale + self.prior * q

    def mean_hessian(self, q: Array) -> Array:
        """Average of the Hessian of V over the rows of q, shape (dim, dim)."""
        x = q / self.length_scale
        kernel, weighted = self._terms(x)
        z = self._scaled
        by_point = weighted @ z
        hessian = (x * weighted.sum(axis=1)[:, None]).T @ x - x.T @ by_point - by_point.T @ x
        hessian += (z * weighted.sum(axis=0)[:, None]).T @ z - weighted.sum() * np.eye(self.dim)
        crossed = x.T @ (kernel @ self.beta) - (z * kernel.sum(axis=0)[:, None]).T @ self.beta
        hessian -= crossed + crossed.T
        mean: Array = hessian / (self.length_scale**2 * len(q)) + self.prior * np.eye(self.dim)
        return mean

    @cached_property
    def _scaled(self) -> Array:
        return self.centres / self.length_scale

    @cached_property
    def _offsets(self) -> Array:
        return np.asarray(self.alpha - (self.beta * self._scaled).sum(axis=1))

    def _terms(self, x: Array) -> tuple[Array, Array]:
        """k(q, c_b), and the terms of the sum over b, for scaled positions: both (m, n)."""
        kernel = _kernel(x, self._scaled)
        return kernel, kernel * (self._offsets + x @ self.beta.T)


@dataclass(frozen=True)
class _Solution:
    alpha: Array
    beta: Array
    mean: float
    variance: float
    log_likelihood: float


def _kernel(x: Array, z: Array) -> Array:
    squared = (x**2).sum(axis=1)[:, None] + (z**2).sum(axis=1) - 2.0 * x @ z.T
    return np.asarray(np.exp(-0.5 * np.maximum(squared, 0.0)))


def _expand(q: Array, solved: _Solution, length: float) -> Array:
    x = q / length
    # The points are their own centres.
    inner = solved.alpha + x @ solved.beta.T - (solved.beta * x).sum(axis=1)
    return np.asarray((_kernel(x, x) * inner).sum(axis=1) + solved.mean)


def _spread(points: Array) -> float:
    """Root mean squared distance of the points from their mean, the unit of length scales."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _search(
    points: Array,
    values: Array,
    slopes: Array,
    lengths: list[float],
    nuggets: tuple[float, ...],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Length and nugget that maximise the likelihood, one after the other; the length once more if noise is chosen."""
    if len(lengths) == len(nuggets) == 1:
        return lengths[0], nuggets[0]
    rows = 1 + points.shape[1] * np.isfinite(slopes).all(axis=1).mean()
    most = max(2, int(SEARCH_ROWS / rows))
    if len(points) > most:
        some = rng.choice(len(points), most, replace=False)
        points, values, slopes = points[some], values[some], slopes[some]

    def likelihood(length: float, nugget: float) -> float:
        try:
            return _solve(points, values, slopes, length, nugget).log_likelihood
        except FitError:
            return -math.inf

    def best_length(nugget: float) -> float:
        return max(lengths, key=lambda length: likelihood(length, nugget))

    length = best_length(nuggets[0])
    nugget = max(nuggets, key=lambda nugget: likelihood(length, nugget))
    return (length if nugget == nuggets[0] else best_length(nugget)), nugget


def _solve(points: Array, values: Array, slopes: Array, length: float, nugget: float) -> _Solution:
    """Condition the process of unit variance, then scale: generalised least squares for its mean.

    Raises
    ------
    FitError
        If the system is not positive definite in doubles.
    """
    n, dim = points.shape
    given = np.column_stack((np.ones(n, dtype=bool), np.isfinite(slopes))).ravel()
    targets = np.column_stack((values, slopes * length)).ravel()[given]
    constant = np.column_stack((np.ones(n), np.zeros((n, dim)))).ravel()[given]
    matrix = _gram(points / length, given)
    matrix[np.diag_indices_from(matrix)] += nugget
    # The transpose is the same matrix in the column order of LAPACK, so that nothing is copied.
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise FitError(f"the covariance of {n} training points is not positive definite")
    solved = linalg.cho_solve((factor, True), np.column_stack((targets, constant)), check_finite=False)
    mean = float(constant @ solved[:, 0] / (constant @ solved[:, 1]))
    weights = solved[:, 0] - mean * solved[:, 1]
    rows = len(targets)
    variance = max(float((targets - mean * constant) @ weights) / rows, np.finfo(float).tiny)
    log_likelihood = -0.5 * rows * math.log(variance) - float(np.log(factor.diagonal()).sum())
    log_likelihood += (rows - n) * math.log(length)
    full = np.zeros(n * (dim + 1))
    full[given] = weights
    full = full.reshape(n, dim + 1)
    return _Solution(full[:, 0].copy(), full[:, 1:].copy(), mean, variance, log_likelihood)


def _gram(x: Array, given: npt.NDArray[np.bool_]) -> Array:
    """Covariance of values and of gradients times l, at scaled positions, of what is given."""
    n, dim = x.shape
    kernel = _kernel(x, x)
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
    return gram.reshape(rows, rows)[np.ix_(given, given)]
