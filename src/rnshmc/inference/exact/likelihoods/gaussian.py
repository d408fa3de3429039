"""Gaussian errors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Bound
from rnshmc.inference.exact.likelihoods.censoring import Flags, NormalTail, bound_flags, censored_family
from rnshmc.inference.exact.likelihoods.flat import FlatData, flattened
from rnshmc.inference.exact.likelihoods.independent import Independent
from rnshmc.inference.exact.likelihoods.links import CholeskyWhitening, Identity
from rnshmc.inference.exact.likelihoods.scales import Given, scale_argument
from rnshmc.inference.given import numbers
from rnshmc.types import Array

LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_ASYMMETRY = 1e-10
"""Largest asymmetry of a computed covariance, relative to its largest entry."""


@dataclass(frozen=True, eq=False)
class NormalFamily:
    """y ~ N(predictor, sd^2).

    Attributes
    ----------
    data
        y, shape (m,).
    log_units
        log of the derivatives of the observations by y, shape (m,), where y are functions of these; 0: they are y.
    """

    data: Array
    log_units: Array | float = 0.0

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """z^2 / 2 + log sd + log(2 pi) / 2 for z = (predictor - y) / sd, and the units, with derivatives."""
        (sd,) = numbers
        z = (predictors - self.data) / sd
        constants = LOG_ROOT_2PI + self.log_units
        return 0.5 * z**2 + np.log(sd) + constants, z / sd, ((1.0 - z**2) / sd,)

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:  # noqa: ARG002
        """1 / sd^2."""
        (sd,) = numbers
        return sd**-2.0

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """Predictors with new errors."""
        (sd,) = numbers
        return predictors + sd * rng.standard_normal(predictors.shape)


class Gaussian:
    """Gaussian errors: y ~ N(F, sd^2) independently, or y ~ N(F, covariance).

    Parameters
    ----------
    sd
        Standard deviation of the errors: a number, an array that broadcasts to the data, the name of an unknown
        parameter, or names, one for each index of the last axis of the data.
    covariance
        Covariance of the errors, shape (M, M), over the data raveled in C order (arrays of a mapping one after the
        other); rows and columns of missing data are left out. Give ``sd`` or ``covariance``.
    scale
        Name of an unknown factor by which known standard deviations are multiplied; a covariance is multiplied by
        its square.

    censored
        Flags that broadcast to the data: "left" or -1 where the datum is a limit that the true value lies below,
        "right" or 1 where it lies above, 0 otherwise. Not with a covariance.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(
        self,
        sd: Given | None = None,
        *,
        covariance: npt.ArrayLike | None = None,
        scale: str | None = None,
        censored: Flags = None,
    ) -> None:
        if (sd is None) == (covariance is None):
            raise ParameterError(f"sd, covariance: expected one of them, got {'none' if sd is None else 'both'}")
        if covariance is not None and censored is not None:
            raise ParameterError("censored: expected none with a covariance, got flags")
        self._sd = scale_argument("sd", 1.0 if sd is None else sd, factor=scale)
        self._covariance = None if covariance is None else checked_covariance("covariance", covariance)
        self._censored = censored

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown standard deviations or of the unknown factor."""
        return self._sd.names

    @property
    def bounds(self) -> dict[str, Bound]:
        """They are positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these data; predictors are F, or L^-1 F for a covariance L L'."""
        flat = flattened(data)
        scales = (self._sd.bound(flat, self.names),)
        if self._covariance is None:
            flags = bound_flags(self._censored, flat)
            family = censored_family(NormalFamily(flat.values), flat.values, flags, NormalTail())
            return Independent(flat, Identity(), family, scales)
        factor = self._factor(self._covariance, flat)
        whitening = CholeskyWhitening(factor)
        whitened = NormalFamily(whitening.solved(flat.values), np.log(np.diag(factor)))
        return Independent(flat, whitening, whitened, scales, whitening.outputs)

    def _factor(self, covariance: Array, data: FlatData) -> Array:
        """L of the covariance of the entries with data."""
        if covariance.shape != (data.size, data.size):
            raise ParameterError(
                f"covariance: expected shape {(data.size, data.size)} for {data.size} data, got {covariance.shape}"
            )
        return cholesky("covariance", covariance[np.ix_(data.present, data.present)])


def checked_covariance(what: str, given: npt.ArrayLike) -> Array:
    """A copy of a symmetric positive definite matrix.

    Raises
    ------
    ParameterError
        If it is anything else; the message starts with ``what``.
    """
    matrix = numbers(given, what)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"{what}: expected a square matrix, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{what}: expected finite numbers, got {matrix[~np.isfinite(matrix)][0]}")
    asymmetry = np.abs(matrix - matrix.T)
    if asymmetry.max(initial=0.0) > _ASYMMETRY * np.abs(matrix).max(initial=0.0):
        row, column = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        pair = f"{matrix[row, column]} and {matrix[column, row]}"
        raise ParameterError(f"{what}: expected a symmetric matrix, got {pair} for the entries {row} and {column}")
    cholesky(what, matrix)
    return matrix


def cholesky(what: str, matrix: Array) -> Array:
    """The lower factor L of L L'.

    Raises
    ------
    ParameterError
        If the matrix is not positive definite; the message starts with ``what``.
    """
    try:
        factor: Array = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError as error:
        raise ParameterError(f"{what}: expected a positive definite matrix, got one that is not: {error}") from error
    return factor
