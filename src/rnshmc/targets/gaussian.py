"""The Gaussian distribution (paper A, section 3.4 and Fig. 3)."""

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import ParameterError
from rnshmc.targets.checks import check_finite, finite
from rnshmc.types import Array

# A computed covariance is symmetric only up to rounding; a wrong one exceeds this.
_ASYMMETRY = 1e-10


class Gaussian:
    """N(mean, covariance) as a potential.

        U(q) = (q - m)' C^-1 (q - m) / 2

    The mean m has shape (d,), the covariance C has shape (d, d). The Hessian is the same everywhere, and the metric is
    that Hessian. Raises `ParameterError` if mean or covariance has a wrong shape or is not finite, or covariance is not
    symmetric positive definite.
    """

    def __init__(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> None:
        self._mean = _checked_mean(mean)
        self.dim: int = len(self._mean)
        """Dimension d."""
        self._factor = _cholesky(covariance, self.dim)
        self._precision: Array = linalg.cho_solve((self._factor, True), np.eye(self.dim))
        self._precision = 0.5 * (self._precision + self._precision.T)
        self._precision.setflags(write=False)

    def value(self, q: Array) -> float:
        """U(q) for q of shape (dim,)."""
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        """Gradient C^-1 (q - m) of U at q, both of shape (dim,)."""
        with np.errstate(all="ignore"):
            gradient: Array = self._precision @ (q - self._mean)
        return finite("gradient of the Gaussian", gradient)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for one product with C^-1."""
        gradient = self.gradient(q)
        with np.errstate(all="ignore"):
            value = 0.5 * float((q - self._mean) @ gradient)
        return finite("potential of the Gaussian", value), gradient

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
    check_finite("mean", vector, ParameterError)
    return vector


def _cholesky(covariance: npt.ArrayLike, dim: int) -> Array:
    """The lower factor L of C = L L'."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (dim, dim):
        raise ParameterError(f"covariance must have shape {(dim, dim)} as mean has {dim} entries, got {matrix.shape}")
    check_finite("covariance", matrix, ParameterError)
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


def spread_gaussian(
    rng: np.random.Generator, *, dim: int, smallest: float, largest: float, between: tuple[float, float]
) -> Gaussian:
    """N(0, diag(v)) with ``v[0]`` smallest, ``v[-1]`` largest and the other variances uniform in an interval.

    Paper B has 30 dimensions, variances 0.1 and 1000, and the others between 1 and 100. Raises `ParameterError` if dim
    is less than 2 or the variances are not positive and in order.
    """
    low, high = between
    if dim < 2:
        raise ParameterError(f"dim must be at least 2, got {dim!r}")
    if not 0 < smallest <= low <= high <= largest < np.inf:
        raise ParameterError(
            "expected 0 < smallest <= between[0] <= between[1] <= largest, "
            f"got smallest = {smallest!r}, between = {between!r}, largest = {largest!r}"
        )
    variances = np.concatenate(([smallest], rng.uniform(low, high, dim - 2), [largest]))
    return Gaussian(np.zeros(dim), np.diag(variances))
