"""The GARCH(m, r) model of a time series (paper B, section 4.3, eqs. 24 and 25)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.files import naming_file
from rnshmc.targets.checks import check_finite, check_positive, finite, read_arrays
from rnshmc.types import Array


class Garch:
    """Posterior of q = (alpha_0, ..., alpha_m, beta_1, ..., beta_r), as a potential.

        y_t ~ N(0, h_t),  h_t = alpha_0 + sum_j alpha_j y_{t-j}^2 + sum_j beta_j h_{t-j}
        U(q) = sum_t (log h_t + y_t^2 / h_t) / 2 + |q|^2 / (2 prior_sd^2)

    The ``orders`` are (m, r), each at least 1: terms in past squares, and in past variances. The sum starts after the
    first max(m, r) ``observations`` y_t, which the likelihood is conditioned on. The paper does not give earlier values
    of h; we use the mean square of the observations, as is usual.

    The prior is N(0, prior_sd^2 I), truncated to alpha_0 > 0, alpha_j >= 0, beta_j >= 0 and sum alpha_j + sum beta_j <
    1: a stationary series with finite variance. The density is zero elsewhere, without a change of variables: a
    position outside raises a `NumericalError`, and the kernel rejects it. An HMC trajectory that leaves and returns is
    rejected too; its reversal passes the same positions, so the posterior stays invariant.

    Given the observations, h follows a linear recursion, whose adjoint is the same recursion backwards in time. Each is
    one call of a linear filter. Raises `DataError` if observations are not a vector of finite numbers, all zero or too
    few. Raises `ParameterError` if orders or prior_sd is out of range.
    """

    def __init__(self, observations: npt.ArrayLike, *, orders: tuple[int, int], prior_sd: float) -> None:
        m, r = orders
        if not (isinstance(m, int) and isinstance(r, int) and min(m, r) >= 1):
            raise ParameterError(f"orders must be integers of at least 1, got {orders!r}")
        check_positive("prior_sd", prior_sd)
        first = max(m, r)
        squares = _checked_observations(observations, first) ** 2
        n = len(squares)
        self.dim: int = 1 + m + r
        """Number of parameters, 1 + m + r."""
        self._past = np.stack([np.ones(n - first), *(squares[first - j : n - j] for j in range(1, m + 1))])
        self._squares = squares[first:]
        self._variances_before = np.full(r, squares.mean())
        self._prior_precision = 1.0 / prior_sd**2

    def value(self, q: Array) -> float:
        """U(q) for q of shape (dim,).

        Raises `ParameterError` if q has another shape; `NumericalError` if q has no density under the prior, or U(q) is
        not finite.
        """
        self._check_inside(q)
        with np.errstate(all="ignore"):
            return self._value(q, self._variances(q))

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (dim,)."""
        self._check_inside(q)
        with np.errstate(all="ignore"):
            return self._gradient(q, self._variances(q))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for one recursion forwards and one backwards."""
        self._check_inside(q)
        with np.errstate(all="ignore"):
            variances = self._variances(q)
            return self._value(q, variances), self._gradient(q, variances)

    def _check_inside(self, q: Array) -> None:
        if q.shape != (self.dim,):
            raise ParameterError(f"q must have shape ({self.dim},), got {q.shape}")
        # Negated so that NaN counts as outside.
        if not (q[0] > 0 and q.min() >= 0 and q[1:].sum() < 1):
            raise NumericalError(f"the parameters {q} are not those of a stationary GARCH process")

    def _variances(self, q: Array) -> Array:
        """h_t of the observations in the sum of U."""
        beta = q[len(self._past) :]
        # State of the filter if h had its initial value in the r previous steps.
        memory = np.cumsum(beta[::-1])[::-1] * self._variances_before
        variances: Array = lfilter([1.0], _feedback(beta), q[: len(self._past)] @ self._past, zi=memory)[0]
        return variances

    def _value(self, q: Array, variances: Array) -> float:
        misfit = float((np.log(variances) + self._squares / variances).sum())
        value = 0.5 * (misfit + self._prior_precision * float(q @ q))
        return finite("potential of the GARCH model", value)

    def _gradient(self, q: Array, variances: Array) -> Array:
        """Adjoint recursion: lambda_t = dU/dh_t + sum_j beta_j lambda_{t+j}, then one product per parameter."""
        direct = 0.5 * (1.0 - self._squares / variances) / variances
        adjoint = lfilter([1.0], _feedback(q[len(self._past) :]), direct[::-1])[::-1]
        n, r = len(variances), len(self._variances_before)
        extended = np.concatenate((self._variances_before, variances))
        by_beta = [adjoint @ extended[r - j : r - j + n] for j in range(1, r + 1)]
        gradient: Array = np.concatenate((self._past @ adjoint, by_beta)) + self._prior_precision * q
        return finite("gradient of the GARCH model", gradient)


def from_file(path: str | Path, *, orders: tuple[int, int], prior_sd: float) -> Garch:
    """The posterior given a stored series, y (n,).

    Raises as `read_arrays` and `Garch`; the message of a `DataError` names the file.
    """
    (y,) = read_arrays(path, "y")
    with naming_file(path):
        return Garch(y, orders=(orders[0], orders[1]), prior_sd=prior_sd)


def _feedback(beta: Array) -> Array:
    """Denominator of the filter that adds the beta-weighted past of its output."""
    return np.concatenate(([1.0], -beta))


def _checked_observations(observations: npt.ArrayLike, first: int) -> Array:
    y = np.asarray(observations, dtype=np.float64)
    if y.ndim != 1 or len(y) <= first:
        raise DataError(f"observations must be a vector with more than {first} entries, got shape {y.shape}")
    check_finite("observations", y)
    if not y.any():
        raise DataError("observations must not all be zero")
    return y
