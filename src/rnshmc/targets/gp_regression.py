"""Hyperparameters of a Gaussian process regression with the Matern 3/2 covariance (paper B, section 4.3)."""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from rnshmc.errors import DataError, NumericalError
from rnshmc.factors import log_diagonal
from rnshmc.files import naming_file
from rnshmc.targets.checks import check_finite, check_positive, checked_rows, finite, read_arrays
from rnshmc.types import Array

_SQRT3 = math.sqrt(3.0)


class GPRegression:
    """Posterior of q = (log l, log sigma^2) in y ~ N(0, K), as a potential (paper B, eqs. 26 and 27, nu = 3/2).

        K_ij = (1 + s_ij) exp(-s_ij) + sigma^2 [i = j],  s_ij = sqrt(3) |x_i - x_j| / l
        U(q) = y' K^-1 y / 2 + log|K| / 2 + |q|^2 / (2 prior_sd^2)

    Inputs X have shape (n, p), outputs y have shape (n,). The priors of l and sigma^2 are lognormal with median 1, so
    the sampled logarithms have Gaussian priors, with standard deviation ``prior_sd``. The process has variance 1, as in
    eq. (27): scale y accordingly.

    A value costs one Cholesky factorisation; its gradient also needs the inverse. Raises `DataError` if X or y has a
    wrong shape or is not finite. Raises `ParameterError` if prior_sd is not a positive number.
    """

    dim: int = 2
    """Number of hyperparameters, 2."""

    def __init__(self, X: npt.ArrayLike, y: npt.ArrayLike, *, prior_sd: float) -> None:
        self._X, self._y = _checked(X, y)
        check_positive("prior_sd", prior_sd)
        self._prior_precision = 1.0 / prior_sd**2
        self._distances: Array = cdist(self._X, self._X)

    def value(self, q: Array) -> float:
        """U(q) for q = (log l, log sigma^2)."""
        with np.errstate(all="ignore"):
            scaled, decay, noise = self._ingredients(q, self._distances)
            factor = self._factor(scaled, decay, noise)
            return self._value(q, factor, self._solve(factor))

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (2,)."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, by one factorisation and one inverse.

        With a = K^-1 y, the derivative by a hyperparameter is tr(K^-1 dK) / 2 - a' dK a / 2.
        """
        with np.errstate(all="ignore"):
            scaled, decay, noise = self._ingredients(q, self._distances)
            factor = self._factor(scaled, decay, noise)
            weights = self._solve(factor)
            value = self._value(q, factor, weights)
            inverse = _inverse(factor)
            # dK / d log l has a zero diagonal, so the triangle of the inverse gives half of the trace.
            slope = scaled
            slope *= slope
            slope *= decay
            by_length = np.vdot(inverse, slope) - 0.5 * (weights @ (slope @ weights))
            by_noise = 0.5 * noise * (np.trace(inverse) - weights @ weights)
            gradient: Array = np.array([by_length, by_noise]) + self._prior_precision * q
        return value, finite("gradient of the Gaussian process regression", gradient)

    def predict(self, q: Array, points: Array) -> tuple[Array, Array]:
        """Mean, shape (k,), and covariance, shape (k, k), of the process at ``points``, shape (k, p), given y and q."""
        with np.errstate(all="ignore"):
            factor = self._factor(*self._ingredients(q, self._distances))
            cross = _matern(*self._ingredients(q, cdist(self._X, points))[:2])
            among = _matern(*self._ingredients(q, cdist(points, points))[:2])
        solved = lapack.dpotrs(factor, cross, lower=1)[0]
        return solved.T @ self._y, among - cross.T @ solved

    def _ingredients(self, q: Array, distances: Array) -> tuple[Array, Array, float]:
        """s, exp(-s) and sigma^2."""
        length, noise = np.exp(q)
        if not (length > 0 and noise > 0 and np.isfinite(length) and np.isfinite(noise)):
            raise NumericalError(f"length scale {length} or noise variance {noise} is out of range")
        scaled = distances * (_SQRT3 / length)
        return scaled, np.exp(-scaled), float(noise)

    def _factor(self, scaled: Array, decay: Array, noise: float) -> Array:
        """Lower Cholesky factor of K, zeros above."""
        covariance = _matern(scaled, decay)
        covariance.flat[:: len(covariance) + 1] += noise
        # The transpose has the memory order in which LAPACK works in place.
        factor: Array
        factor, failed = lapack.dpotrf(covariance.T, lower=1, clean=1, overwrite_a=1)
        if failed:
            raise NumericalError("the covariance of the Gaussian process regression is not positive definite")
        return factor

    def _solve(self, factor: Array) -> Array:
        weights: Array = lapack.dpotrs(factor, self._y, lower=1)[0]
        return weights

    def _value(self, q: Array, factor: Array, weights: Array) -> float:
        value = float(0.5 * (self._y @ weights) + log_diagonal(factor).sum() + 0.5 * self._prior_precision * (q @ q))
        return finite("potential of the Gaussian process regression", value)


def from_file(path: str | Path, *, prior_sd: float) -> GPRegression:
    """The posterior given stored data, X (n, p) and y (n,).

    Raises as `read_arrays` and `GPRegression`; the message of a `DataError` names the file.
    """
    X, y = read_arrays(path, "X", "y")
    with naming_file(path):
        return GPRegression(X, y, prior_sd=prior_sd)


def _matern(scaled: Array, decay: Array) -> Array:
    covariance = 1.0 + scaled
    covariance *= decay
    return covariance


def _inverse(factor: Array) -> Array:
    """A triangle of K^-1 (the other is zero) in row order, which overwrites the factor of K."""
    inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise NumericalError("the covariance of the Gaussian process regression is singular")
    triangle: Array = inverse.T
    return triangle


def _checked(X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Array, Array]:
    inputs, outputs = np.array(checked_rows(X)), np.array(y, dtype=np.float64)
    if outputs.shape != (len(inputs),):
        raise DataError(f"y must have one output for each of the {len(inputs)} rows of X, got shape {outputs.shape}")
    check_finite("y", outputs)
    return inputs, outputs
