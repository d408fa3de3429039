"""Covariance of a model's outputs at several inputs, and its maximum-likelihood parameters given the runs."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from rnshmc.errors import FitError
from rnshmc.factors import log_diagonal
from rnshmc.surrogates.squared_exponential import spread, squared_exponential
from rnshmc.types import Array

LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Initial candidates for a common length scale of all inputs, in units of their spread."""
NUGGETS = (1e-8, 1e-6, 1e-4, 1e-2)
"""Initial candidates for the noise variance of outputs, in units of the variance of the process."""
NOISES = (1e-8, 0.1)
"""Bounds of the noise variance in the search."""
BROAD = 1e4
"""Variance of the constant and of the linear part's change over the spread, in units of the process's."""
PRIOR = 2.0
"""Median of the prior of a length scale, in units of the spread; its logarithm has a standard deviation of one."""
EXTREMES = (0.05, 100.0)
"""Bounds of the length scales in the search, in units of the spread."""
QUADRATIC = 3.0
"""Median of the prior of the variance of the quadratic part, in units of the process's; its logarithm has a standard
deviation of `LOOSE`. Chosen by hand on the elliptic PDE, where larger variances reduced the errors of means."""
LOOSE = 2.0
QUADRATICS = (1e-3, 1e3)
"""Bounds of the quadratic part's variance in the search."""
ITERATIONS = 40
MOST = 300
"""Maximum number of runs, the first ones, for choosing hyperparameters."""


@dataclass(frozen=True, eq=False)
class Covariance:
    """k(w, c) = exp(-sum_j (w_j - c_j)^2 / (2 l_j^2)) + q (sum_j w_j c_j / l_j^2)^2 + BROAD (1 + w'c / s^2), and noise.

    Near a mode, outputs are close to quadratic: the second term models that, and the first the remainder.
    """

    lengths: Array
    """l, shape (dim,)."""
    scale: float
    """s, the spread of the inputs."""
    nugget: float
    """Variance of the noise, in units of the variance of the process, as q."""
    quadratic: float
    """q."""
    loss: float = math.nan
    """Minus the logarithm of the probability of the runs by which it was chosen, for each output, up to a constant that
    is the same in all coordinates; NaN where it was not chosen."""

    def between(self, w: Array, c: Array) -> Array:
        """k at the rows of both, (k, n)."""
        curved = self.local(w, c) + self.quadratic * self.products(w, c) ** 2
        return np.asarray(curved + BROAD * (1.0 + (w / self.scale) @ (c / self.scale).T))

    def variances(self, w: Array) -> Array:
        """k(w, w) at the rows, (k,)."""
        squares = ((w / self.lengths) ** 2).sum(axis=1)
        return np.asarray(1.0 + self.quadratic * squares**2 + BROAD * (1.0 + ((w / self.scale) ** 2).sum(axis=1)))

    def local(self, w: Array, c: Array) -> Array:
        """The first term, which decreases with distance."""
        return squared_exponential(w / self.lengths, c / self.lengths)

    def products(self, w: Array, c: Array) -> Array:
        """The sum that is squared in the second term."""
        return np.asarray((w / self.lengths) @ (c / self.lengths).T)

    def factor(self, c: Array) -> Array:
        """Lower Cholesky factor of the matrix of all inputs, with noise.

        Raises `FitError` if it is not positive definite in doubles.
        """
        matrix = self.between(c, c)
        matrix[np.diag_indices_from(matrix)] += self.nugget
        try:
            return np.asarray(linalg.cholesky(matrix, lower=True, check_finite=False))
        except linalg.LinAlgError as error:
            raise FitError(f"the covariance of {len(c)} runs is not positive definite") from error


def chosen(inputs: Array, outputs: Array) -> Covariance:
    """The covariance that maximises the joint likelihood of all outputs of the runs.

    Inputs have shape (n, dim), outputs (n, m), in units in which errors matter alike. Length scales and the quadratic
    part have log-normal priors: a dozen runs do not fix those of twenty inputs. Raises `FitError` if the inputs are
    all the same, or no candidate can be factored.
    """
    scale = spread(inputs)
    if not scale > 0:
        raise FitError(f"the {len(inputs)} runs have the same inputs")
    w, y = inputs[:MOST], outputs[:MOST]
    dim = inputs.shape[1]

    def common(length: float, nugget: float) -> Covariance:
        return Covariance(np.full(dim, length * scale), scale, nugget, QUADRATIC)

    def best_length(nugget: float) -> float:
        return min(LENGTHS, key=lambda length: _loss(common(length, nugget), w, y))

    length = best_length(NUGGETS[0])
    nugget = min(NUGGETS, key=lambda nugget: _loss(common(length, nugget), w, y))
    length = length if nugget == NUGGETS[0] else best_length(nugget)
    return _refined(common(length, nugget), w, y)


def _refined(start: Covariance, inputs: Array, outputs: Array) -> Covariance:
    """Optimise a length scale per input (automatic relevance determination, MacKay 1996), noise and quadratic part."""
    scale, dim = start.scale, len(start.lengths)
    typical = np.log(np.append(np.full(dim, PRIOR), QUADRATIC))
    loose = np.append(np.ones(dim), LOOSE)

    def at(logarithms: Array, loss: float = math.nan) -> Covariance:
        found = np.exp(logarithms)
        return Covariance(scale * found[:dim], scale, float(found[-1]), float(found[dim]), loss)

    def loss(logarithms: Array) -> tuple[float, Array]:
        try:
            value, slopes = _loss_and_slopes(at(logarithms), inputs, outputs)
        except FitError:
            return 1e10, np.zeros(dim + 2)
        away = (logarithms[:-1] - typical) / loose
        slopes[:-1] += away / loose
        return value + 0.5 * float(away @ away), slopes

    low, high = zip(*[EXTREMES] * dim, QUADRATICS, NOISES, strict=True)
    origin = np.log(np.concatenate((start.lengths / scale, [start.quadratic, start.nugget])))
    found = optimize.minimize(
        loss,
        origin,
        jac=True,
        method="L-BFGS-B",
        bounds=optimize.Bounds(np.log(low), np.log(high)),
        options={"maxiter": ITERATIONS, "gtol": 0.1},
    )
    return at(found.x, float(found.fun))


def _loss(covariance: Covariance, inputs: Array, outputs: Array) -> float:
    try:
        factor = covariance.factor(inputs)
    except FitError:
        return math.inf
    half = linalg.solve_triangular(factor, outputs, lower=True, check_finite=False)
    return _minus_log_likelihood(factor, float((half**2).mean()))


def _minus_log_likelihood(factor: Array, variance: float) -> float:
    """Negative log likelihood per output at the most likely variance of the process, up to a constant."""
    tiny = float(np.finfo(float).tiny)
    return 0.5 * len(factor) * math.log(max(variance, tiny)) + float(log_diagonal(factor).sum())


def _loss_and_slopes(covariance: Covariance, inputs: Array, outputs: Array) -> tuple[float, Array]:
    """Negative log likelihood per output, and its gradient in the logarithms of length scales, q and noise."""
    factor = covariance.factor(inputs)
    alpha = linalg.cho_solve((factor, True), outputs, check_finite=False)
    variance = max(float((outputs * alpha).mean()), float(np.finfo(float).tiny))
    inverse = linalg.cho_solve((factor, True), np.eye(len(inputs)), check_finite=False)
    weights = alpha @ alpha.T / (variance * outputs.shape[1]) - inverse
    local = weights * covariance.local(inputs, inputs)
    products = covariance.products(inputs, inputs)
    squared = 2.0 * covariance.quadratic * weights * products
    scaled = inputs / covariance.lengths
    by_lengths = (local.sum(axis=1)[:, None] * scaled**2).sum(axis=0)
    by_lengths -= (scaled * ((local + squared) @ scaled)).sum(axis=0)
    by_quadratic = 0.25 * float((squared * products).sum())
    by_noise = 0.5 * covariance.nugget * float(weights.trace())
    return _minus_log_likelihood(factor, variance), -np.append(by_lengths, [by_quadratic, by_noise])
