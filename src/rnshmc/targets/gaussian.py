"""The Gaussian distribution (paper A, section 3.4 and Fig. 3)."""

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array

# A computed covariance is symmetric only up to rounding; a wrong one exceeds this.
_ASYMMETRY = 1e-10


class Gaussian:
    """N(mean, covariance) as a potential.

        U(q) = (q - m)' C^-1 (q - m) / 2

    Its Hessian is the same everywhere, and the metric is that Hessian.

    Parameters
    ----------
    mean
        Mean m, shape (d,).
    covariance
        Covariance matrix C, shape (d, d), symmetric positive definite.

    Attributes
    ----------
    dim
        Dimension d.

    Raises
    ------
    ParameterError
        If mean or covariance has a wrong shape or is not finite, or covariance is not symmetric positive definite.
    """

    def __init__(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> None:
        self._mean = _checked_mean(mean)
        self.dim: int = len(self._mean)
        self._factor = _cholesky(covariance, self.dim)
        self._precision: Array = linalg.cho_solve((self._factor, True), np.eye(self.dim))
        self._precision = 0.5 * (self._precision + self._precision.T)
        self._precision.setflags(write=False)

    def value(self, q: Array) -> float:
        """U(q) for q of shape (dim,).

        Raises
        ------
        NumericalError
            If U(q) is not finite.
        """
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        """Gradient C^-1 (q - m) of U at q, both of shape (dim,).

        Raises
        ------
        NumericalError
            If the gradient is not finite.
        """
        with np.errstate(all="ignore"):
            gradient: Array = self._precision @ (q - self._mean)
        if not np.isfinite(gradient).all():
            raise NumericalError("the gradient of the Gaussian is not finite")
        return gradient

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, by one product with C^-1.

        Raises
        ------
        NumericalError
            If U(q) or its gradient is not finite.
        """
        gradient = self.gradient(q)
        with np.errstate(all="ignore"):
            value = 0.5 * float((q - self._mean) @ gradient)
        if not np.isfinite(value):
            raise NumericalError(f"the potential of the Gaussian is {value}")
        return value, gradient

    def metric(self, q: Array) -> Array:  # noqa: ARG002
        """C^-1, shape (dim, dim), the same read-only array at every q."""
        return self._precision

    def metric_vjp(self, q: Array, factor: Array) -> Array:  # noqa: ARG002
        """Zeros of shape (dim,): the metric is constant."""
        return np.zeros(self.dim)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws, shape (n, dim)."""
        draws: Array = self._mean + rng.standard_normal((n, self.dim)) @ self._factor.T
        return draws


def _checked_mean(mean: npt.ArrayLike) -> Array:
    vector = np.array(mean, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise ParameterError(f"mean must be a vector, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        index = np.flatnonzero(~np.isfinite(vector))[0]
        raise ParameterError(f"mean must be finite, got {vector[index]} in entry {index}")
    return vector


def _cholesky(covariance: npt.ArrayLike, dim: int) -> Array:
    """The lower factor L of C = L L'."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (dim, dim):
        raise ParameterError(f"covariance must have shape {(dim, dim)} as mean has {dim} entries, got {matrix.shape}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ParameterError(f"covariance must be finite, got {matrix[row, column]} in row {row}, column {column}")
    asymmetry = np.abs(matrix - matrix.T)
    if asymmetry.max() > _ASYMMETRY * np.abs(matrix).max():
        row, column = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        pair = f"{matrix[row, column]} and {matrix[column, row]}"
        raise ParameterError(f"covariance must be symmetric, got {pair} for the entries {row} and {column}")
    try:
        factor: Array = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError as error:
        raise ParameterError(f"covariance must be positive definite: {error}") from error
    return factor
