"""Posteriors of a forward model that is observed with Gaussian noise."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.types import Array, Potential

Prior = tuple[npt.ArrayLike, npt.ArrayLike] | Potential | None
"""Mean and standard deviation of independent normal priors, a potential, or None for a flat prior."""


class LeastSquares:
    """The log density -sum_i ((F_i(x) - y_i) / s_i)^2 / 2 + log prior(x).

    Its gradient is -J' ((F - y) / s^2) plus that of the prior, for one product with J', or one Jacobian J.

    Parameters
    ----------
    forward
        F(x), shape (m,), for x of shape (d,).
    data
        Observations y, shape (m,).
    noise_sd
        Standard deviation s of the noise, one number or shape (m,).
    prior
        (mean, sd) of independent normal priors, a `Potential`, or None for a flat one.
    jacobian
        J(x), shape (m, d).
    vjp
        J(x)'v, shape (d,), as ``vjp(x, v)``; an adjoint solve. At most one of the two; with none of them there is no
        gradient.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(
        self,
        forward: Callable[[Array], Any],
        data: npt.ArrayLike,
        noise_sd: npt.ArrayLike,
        *,
        prior: Prior = None,
        jacobian: Callable[[Array], Any] | None = None,
        vjp: Callable[[Array, Array], Any] | None = None,
    ) -> None:
        self._data = np.atleast_1d(np.array(data, dtype=np.float64))
        self._noise_sd = np.array(noise_sd, dtype=np.float64)
        if self._data.ndim != 1 or not np.isfinite(self._data).all():
            raise ParameterError(f"data: expected finite numbers of shape (m,), got shape {self._data.shape}")
        if self._noise_sd.shape not in ((), self._data.shape) or not (self._noise_sd > 0).all():
            raise ParameterError(
                f"noise_sd: expected one positive number, or {len(self._data)} as there are data, got shape "
                f"{self._noise_sd.shape}"
            )
        if jacobian is not None and vjp is not None:
            raise ParameterError("jacobian, vjp: give one of them")
        self._forward, self._jacobian, self._vjp = forward, jacobian, vjp
        self._prior = _Normal(*prior) if isinstance(prior, tuple) else prior
        # The last solve of each thread: another must not replace it between a value and its gradient.
        self._last: dict[int, tuple[bytes, Array]] = {}

    @property
    def has_gradient(self) -> bool:
        """Whether there is a Jacobian in some form."""
        return self._jacobian is not None or self._vjp is not None

    def log_density(self, x: Array) -> float:
        """The log density at ``x``, shape (d,), for one forward solve."""
        misfit = (self._solved(x) - self._data) / self._noise_sd
        prior = 0.0 if self._prior is None else self._prior.value(x)
        return -0.5 * float(misfit @ misfit) - prior

    def gradient(self, x: Array) -> Array:
        """Gradient of the log density at ``x``; the forward solve there is not repeated if it was the last one."""
        weighted = (self._solved(x) - self._data) / self._noise_sd**2
        if self._vjp is not None:
            pulled = _real(self._vjp(x, weighted), "vjp")
        else:
            assert self._jacobian is not None
            pulled = self._checked_jacobian(x).T @ weighted
        return -pulled if self._prior is None else -pulled - self._prior.gradient(x)

    def _solved(self, x: Array) -> Array:
        """F(x)."""
        last = self._last.get(threading.get_ident())
        if last is not None and last[0] == x.tobytes():
            return last[1]
        output = np.atleast_1d(_real(self._forward(x.copy()), "the forward model"))
        if output.shape != self._data.shape:
            raise ParameterError(f"the forward model returned shape {output.shape}, the data have {self._data.shape}")
        self._last[threading.get_ident()] = (x.tobytes(), output)
        return output

    def _checked_jacobian(self, x: Array) -> Array:
        assert self._jacobian is not None
        jacobian = _real(self._jacobian(x.copy()), "the Jacobian")
        if jacobian.shape != (len(self._data), len(x)):
            raise ParameterError(f"the Jacobian has shape {jacobian.shape}, expected {(len(self._data), len(x))}")
        return jacobian


def _real(returned: Any, what: str) -> Array:
    """What a function of the user returned, as doubles."""
    if np.iscomplexobj(returned):
        raise ParameterError(f"{what} returned complex numbers, expected real ones")
    return np.asarray(returned, dtype=np.float64)


class _Normal:
    """Independent normal priors as a potential."""

    def __init__(self, mean: npt.ArrayLike, sd: npt.ArrayLike) -> None:
        self._mean, self._sd = np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64)
        if not (np.isfinite(self._mean).all() and (self._sd > 0).all()):
            raise ParameterError("prior: expected a finite mean and a positive standard deviation")

    def value(self, x: Array) -> float:
        z = (x - self._mean) / self._sd
        return 0.5 * float(z @ z)

    def gradient(self, x: Array) -> Array:
        slope: Array = (x - self._mean) / self._sd**2
        return slope
