"""The interface of priors, the flat prior, and normal priors."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.inference.exact.likelihoods.distributions import LOG_ROOT_2PI
from rnshmc.inference.exact.likelihoods.links import checked_covariance, cholesky
from rnshmc.inference.given import numbers
from rnshmc.types import Array


class Prior:
    """-log density of d parameters in the user's coordinates; flat unless overridden."""

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Support of the parameters, by index, where it is not the real line; infinite on an open side."""
        return {}

    @property
    def angles(self) -> dict[int, tuple[float, float]]:
        """Ends of the intervals of angles, by index."""
        return {}

    @property
    def scale(self) -> Array | None:
        """Standard deviations, shape (d,); NaN where unknown or infinite, None if all are."""
        return None

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density (k,), with its constant, and its gradient (k, d), at the rows of ``x``, (k, d).

        Outside the support the value is inf and the gradient is zero. A flat density is 1, which has no integral.
        """
        return np.zeros(len(x)), np.zeros(x.shape)

    def draws(self, rng: np.random.Generator, n: int) -> Array | None:  # noqa: ARG002
        """Independent draws, (n, d); None if the prior cannot be drawn from."""
        return None


@dataclass(frozen=True, eq=False, init=False)
class Normal:
    """A normal prior N(mean, sd^2), independent, or N(mean, covariance).

    Parameters
    ----------
    mean
        Mean, shape (d,), or one number for all parameters.
    sd
        Standard deviations, shape (d,), or one number.
    covariance
        Covariance, shape (d, d). Give either ``sd`` or ``covariance``.
    """

    mean: Array
    sd: Array
    covariance: Array | None = field(repr=False)

    def __init__(
        self, mean: npt.ArrayLike, sd: npt.ArrayLike | None = None, *, covariance: npt.ArrayLike | None = None
    ) -> None:
        if (sd is None) == (covariance is None):
            raise ParameterError(f"Normal: expected sd or covariance, got {'none' if sd is None else 'both'}")
        centre = _vector("mean", mean)
        matrix = None if covariance is None else checked_covariance("Normal: covariance", covariance)
        scale = _vector("sd", sd) if matrix is None else np.sqrt(np.diag(matrix))
        if not (scale > 0).all():
            raise ParameterError(f"Normal: expected a positive sd, got {scale.min()}")
        sizes = {array.size for array in (centre, scale) if array.ndim}
        if len(sizes) > 1:
            raise ParameterError(
                f"Normal: mean has shape {centre.shape}, sd or covariance is for {scale.size} parameters"
            )
        object.__setattr__(self, "mean", centre)
        object.__setattr__(self, "sd", scale)
        object.__setattr__(self, "covariance", matrix)

    @property
    def dim(self) -> int | None:
        """Number of parameters; None if mean and sd are one number for all."""
        return max(self.mean.size, self.sd.size) if self.mean.ndim or self.sd.ndim else None

    def over(self, dim: int) -> "NormalPrior":
        """The prior of that many parameters, which must agree with `dim`."""
        mean = np.broadcast_to(self.mean, (dim,))
        factor = None if self.covariance is None else cholesky("Normal: covariance", self.covariance)
        return NormalPrior(mean, np.broadcast_to(self.sd, (dim,)), factor)


@dataclass(frozen=True, eq=False)
class NormalPrior(Prior):
    """A normal prior with means and sds of shape (d,), and covariance L L' if there is a ``factor`` L."""

    mean: Array
    sd: Array
    factor: Array | None = None

    @property
    def scale(self) -> Array:
        """Standard deviations."""
        return self.sd

    def potential(self, x: Array) -> tuple[Array, Array]:
        """|z|^2 / 2 + log |L| + d log(2 pi) / 2 for z = L^-1 (x - mean), and L^-T z."""
        offset = x - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            if self.factor is None:
                z = offset / self.sd
                values, gradients = 0.5 * (z**2).sum(axis=1), z / self.sd
            else:
                gradients = linalg.cho_solve((self.factor, True), offset.T, check_finite=False).T
                values = 0.5 * (offset * gradients).sum(axis=1)
        log_spreads = np.log(self.sd) if self.factor is None else log_diagonal(self.factor)
        values = values + float(log_spreads.sum()) + len(self.mean) * LOG_ROOT_2PI
        good = np.isfinite(values)
        return np.where(good, values, np.inf), np.where(good[:, None], gradients, 0.0)

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws."""
        z = rng.standard_normal((n, len(self.mean)))
        return np.asarray(self.mean + (z * self.sd if self.factor is None else z @ self.factor.T))


def _vector(what: str, given: npt.ArrayLike | None) -> Array:
    array = numbers(given, f"Normal: {what}")
    if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all():
        raise ParameterError(f"Normal: expected {what} to be finite numbers of shape (d,), got {given!r:.80}")
    return array
