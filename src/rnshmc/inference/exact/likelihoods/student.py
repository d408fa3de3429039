"""Errors with heavy tails."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, stdtr

from rnshmc.inference.exact.likelihoods.base import Bound
from rnshmc.inference.exact.likelihoods.censoring import Flags, bound_flags, censored_family
from rnshmc.inference.exact.likelihoods.flat import flattened
from rnshmc.inference.exact.likelihoods.independent import Independent
from rnshmc.inference.exact.likelihoods.links import Identity
from rnshmc.inference.exact.likelihoods.scales import Given, scale_argument
from rnshmc.types import Array

_UNDERFLOW = 1e-100
"""Probabilities below this are computed by their logarithm."""
_TERMS = 60
"""Terms of the continued fraction; where probabilities are this small, a few reach rounding error."""
_STEP = 1e-4
"""Relative step of the central difference by the degrees of freedom."""


@dataclass(frozen=True, eq=False)
class StudentFamily:
    """y = predictor + scale t with df degrees of freedom.

    Attributes
    ----------
    data
        y, shape (m,).
    """

    data: Array

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """-log density with derivatives by predictor, scale and df."""
        scale, df = numbers
        z = (predictors - self.data) / scale
        weight = (df + 1.0) / (df + z**2)
        logs = np.log1p(z**2 / df)
        terms = 0.5 * (df + 1.0) * logs + np.log(scale) + _log_normaliser(df)
        by_df = 0.5 * (logs - weight * z**2 / df + 1.0 / df + digamma(0.5 * df) - digamma(0.5 * (df + 1.0)))
        return terms, weight * z / scale, ((1.0 - weight * z**2) / scale, by_df)

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:  # noqa: ARG002
        """(df + 1) / (df + 3) / scale^2."""
        scale, df = numbers
        return np.asarray((df + 1.0) / (df + 3.0) / scale**2)

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """Predictors with new errors."""
        scale, df = (np.broadcast_to(number, predictors.shape) for number in numbers)
        return np.asarray(predictors + scale * rng.standard_t(df))


class StudentTail:
    """Student's t distribution."""

    def terms(self, z: Array, *shape: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """log G(z) with its derivatives by z and, by central differences, by df."""
        (df,) = shape
        logs = log_student_cdf(z, df)
        by_df = (log_student_cdf(z, df * (1.0 + _STEP)) - log_student_cdf(z, df * (1.0 - _STEP))) / (2.0 * _STEP * df)
        return logs, _ratio(z, df, logs), (by_df,)

    def curvatures(self, z: Array, *shape: Array) -> Array:
        """Squared slope: the second derivative of -log G(z) is negative in the tail."""
        (df,) = shape
        squared: Array = _ratio(z, df, log_student_cdf(z, df)) ** 2
        return squared


class StudentT:
    """Errors of Student's t distribution: y = F + scale t.

    Predictors are F.

    Parameters
    ----------
    df
        Degrees of freedom: a positive number, or the name of an unknown parameter.
    scale
        Scale of the errors: a number, an array that broadcasts to the data, the name of an unknown parameter, or names,
        one for each index of the last axis of the data.
    censored
        As for `Gaussian`.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(self, df: Given, scale: Given, *, censored: Flags = None) -> None:
        self._df, self._scale = scale_argument("df", df), scale_argument("scale", scale)
        self._censored = censored

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown degrees of freedom and scales."""
        return tuple(dict.fromkeys(self._df.names + self._scale.names))

    @property
    def bounds(self) -> dict[str, Bound]:
        """They are positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these data."""
        flat = flattened(data)
        flags = bound_flags(self._censored, flat)
        family = censored_family(StudentFamily(flat.values), flat.values, flags, StudentTail())
        scales = tuple(argument.bound(flat, self.names) for argument in (self._scale, self._df))
        return Independent(flat, Identity(), family, scales)


def log_student_cdf(z: Array, df: Array) -> Array:
    """log of the cumulative distribution of Student's t, finite far out in the lower tail."""
    probabilities = np.asarray(stdtr(df, z))
    far = (probabilities < _UNDERFLOW) & (z < 0)
    logs: Array = np.log(np.where(far, 1.0, probabilities))
    logs[far] = _log_tail(z[far], np.broadcast_to(df, z.shape)[far])
    return logs


def _log_tail(z: Array, df: Array) -> Array:
    """log G(z) for z far below zero.

    G(z) = I_x(a, b) / 2 with x = df / (df + z^2), a = df / 2, b = 1 / 2, by the continued fraction of the incomplete
    beta function (Abramowitz and Stegun 26.5.8), evaluated from its end.
    """
    a, b = 0.5 * df, 0.5
    x = 1.0 / (1.0 + z**2 / df)
    fraction = np.ones_like(x)
    for j in range(_TERMS, 0, -1):
        even = j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j))
        odd = -(a + j - 1) * (a + b + j - 1) * x / ((a + 2 * j - 2) * (a + 2 * j - 1))
        fraction = 1.0 + odd / (1.0 + even / fraction)
    log_x = -np.log1p(z**2 / df)
    log_rest = -np.log1p(df / z**2)
    logs: Array = a * log_x + b * log_rest - np.log(a) - betaln(a, b) - np.log(fraction) - np.log(2.0)
    return logs


def _ratio(z: Array, df: Array, log_cdf: Array) -> Array:
    """Density over cumulative distribution."""
    log_density = -0.5 * (df + 1.0) * np.log1p(z**2 / df) - _log_normaliser(df)
    ratio: Array = np.exp(log_density - log_cdf)
    return ratio


def _log_normaliser(df: Array) -> Array:
    return np.asarray(0.5 * np.log(df) + betaln(0.5 * df, 0.5))
