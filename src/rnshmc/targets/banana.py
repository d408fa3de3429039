"""The banana-shaped posterior of paper A, Fig. 2 (Girolami and Calderhead, J. R. Stat. Soc. B 73, 2011)."""

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError, ParameterError
from rnshmc.targets.checks import check_finite, check_positive, finite
from rnshmc.types import Array


class Banana:
    """Posterior of theta in y_i ~ N(theta_1 + theta_2^2, noise_sd^2), theta ~ N(0, prior_sd^2 I), as a potential.

    The ``observations`` y_i, shape (n,), enter by their number n and mean only, and up to a constant

        U(theta) = n (mean(y) - theta_1 - theta_2^2)^2 / (2 noise_sd^2) + |theta|^2 / (2 prior_sd^2).

    Raises `DataError` if observations are not a vector of finite numbers. Raises `ParameterError` if noise_sd or
    prior_sd is not a positive number.
    """

    dim: int = 2
    """Number of parameters, 2."""

    def __init__(self, observations: npt.ArrayLike, noise_sd: float, prior_sd: float) -> None:
        y = _checked_observations(observations)
        for name, sd in (("noise_sd", noise_sd), ("prior_sd", prior_sd)):
            check_positive(name, sd)
        self._mean = float(y.mean())
        self._data_precision = len(y) / noise_sd**2
        self._prior_precision = 1.0 / prior_sd**2

    def value(self, q: Array) -> float:
        """U(q) for q = (theta_1, theta_2)."""
        with np.errstate(all="ignore"):
            misfit = q[0] + q[1] ** 2 - self._mean
            value = 0.5 * float(self._data_precision * misfit**2 + self._prior_precision * (q @ q))
        return finite("potential of the banana", value)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (2,)."""
        with np.errstate(all="ignore"):
            misfit = q[0] + q[1] ** 2 - self._mean
            gradient: Array = self._data_precision * misfit * _sensitivity(q) + self._prior_precision * q
        return finite("gradient of the banana", gradient)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient."""
        return self.value(q), self.gradient(q)

    def metric(self, q: Array) -> Array:
        """Fisher information plus prior precision, shape (2, 2), which depends on theta_2 only."""
        with np.errstate(all="ignore"):
            sensitivity = _sensitivity(q)
            information = self._data_precision * np.outer(sensitivity, sensitivity)
            return finite("metric of the banana", information + self._prior_precision * np.eye(2))

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dtheta_i for m = factor factor', factor of shape (2, r), as an array of shape (2,)."""
        with np.errstate(all="ignore"):
            pulled_back = 4.0 * self._data_precision * float(factor[1] @ (_sensitivity(q) @ factor))
        return finite("derivative of the metric of the banana", np.array([0.0, pulled_back]))


def banana_data(rng: np.random.Generator, n: int, *, mean: float, sd: float) -> Array:
    """Draw n observations from N(mean, sd^2); paper A has n = 100, mean = 1 and sd = 2.

    Any theta with theta_1 + theta_2^2 = mean would generate them, hence the shape of the posterior. Raises
    `ParameterError` if n is less than 1, mean is not finite or sd is not a positive number.
    """
    if n < 1:
        raise ParameterError(f"n must be at least 1, got {n!r}")
    if not np.isfinite(mean):
        raise ParameterError(f"mean must be a finite number, got {mean!r}")
    check_positive("sd", sd)
    return rng.normal(mean, sd, n)


def _sensitivity(q: Array) -> Array:
    """Derivative of theta_1 + theta_2^2."""
    return np.array([1.0, 2.0 * q[1]])


def _checked_observations(observations: npt.ArrayLike) -> Array:
    y = np.asarray(observations, dtype=np.float64)
    if y.ndim != 1 or y.size == 0:
        raise DataError(f"observations must be a vector with at least one entry, got shape {y.shape}")
    check_finite("observations", y)
    return y
