"""Errors in proportion to the outputs: log-normal ones, and normal ones of a relative size."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Bound
from rnshmc.inference.exact.likelihoods.censoring import Flags, NormalTail, bound_flags, censored_family
from rnshmc.inference.exact.likelihoods.flat import FlatData, flattened
from rnshmc.inference.exact.likelihoods.gaussian import LOG_ROOT_2PI, NormalFamily
from rnshmc.inference.exact.likelihoods.independent import Independent
from rnshmc.inference.exact.likelihoods.links import Log
from rnshmc.inference.exact.likelihoods.scales import Given, scale_argument
from rnshmc.types import Array

_FLOOR = 1e-8
"""Smallest output, relative to its datum: at this distance a datum with an error below 100% is out of the question."""
_SLACK = 1e-6
"""Largest output of the wrong sign, relative to the largest datum: what solvers of differential equations leave."""


class LogNormal:
    """Log-normal errors: log y ~ N(log F, sd^2).

    Predictors are log F. An output below 1e-8 times its datum counts as that; so does a negative one down to -1e-6
    times the largest datum, as solvers return for zero. Below that, the model run has failed.

    Parameters
    ----------
    sd
        Standard deviation of log y: a number, an array that broadcasts to the data, the name of an unknown parameter,
        or names, one for each index of the last axis of the data.
    scale
        Name of an unknown factor by which known standard deviations are multiplied.
    censored
        As for `Gaussian`.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(self, sd: Given, *, scale: str | None = None, censored: Flags = None) -> None:
        self._sd = scale_argument("sd", sd, factor=scale)
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
        """The likelihood of these data, which have to be positive."""
        flat = flattened(data)
        if (flat.values <= 0).any():
            raise ParameterError(f"data: got {flat.where(flat.values <= 0)}, expected positive data for LogNormal")
        logs = np.log(flat.values)
        family = censored_family(NormalFamily(logs, logs), logs, bound_flags(self._censored, flat), NormalTail())
        return Independent(flat, _log_link(flat), family, (self._sd.bound(flat, self.names),), np.exp)


@dataclass(frozen=True, eq=False)
class RelativeFamily:
    """y ~ N(F, (sd F)^2) with the predictor log |F|.

    Attributes
    ----------
    data
        y, shape (m,).
    sign
        Sign of all F.
    """

    data: Array
    sign: float

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """z^2 / 2 + log |F| + log sd + log(2 pi) / 2 for z = (y / F - 1) / sd, with derivatives."""
        (sd,) = numbers
        ratios = self.sign * self.data * np.exp(-predictors)
        z = (ratios - 1.0) / sd
        terms = 0.5 * z**2 + predictors + np.log(sd) + LOG_ROOT_2PI
        return terms, 1.0 - z * ratios / sd, ((1.0 - z**2) / sd,)

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:  # noqa: ARG002
        """1 / sd^2 + 2."""
        (sd,) = numbers
        return sd**-2.0 + 2.0

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """Outputs with new relative errors."""
        (sd,) = numbers
        errors = 1.0 + sd * rng.standard_normal(predictors.shape)
        return np.asarray(self.sign * np.exp(predictors) * errors)


class Relative:
    """Errors of a relative size: y ~ N(F, (sd F)^2).

    Predictors are log |F|: all outputs have to have the sign of most data. Outputs near zero are treated as by
    `LogNormal`. For outputs of both signs, use `Gaussian` with a standard deviation for each datum.

    Parameters
    ----------
    sd
        Standard deviation of the error relative to the output: a number, an array that broadcasts to the data, the
        name of an unknown parameter, or names, one for each index of the last axis of the data.
    scale
        Name of an unknown factor by which known standard deviations are multiplied.

    Raises
    ------
    ParameterError
        If an argument cannot be used.
    """

    def __init__(self, sd: Given, *, scale: str | None = None) -> None:
        self._sd = scale_argument("sd", sd, factor=scale)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown standard deviations or of the unknown factor."""
        return self._sd.names

    @property
    def bounds(self) -> dict[str, Bound]:
        """They are positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these data, none of which may be zero."""
        flat = flattened(data)
        if (flat.values == 0).any():
            raise ParameterError(
                f"data: got {flat.where(flat.values == 0)}, but a relative error of zero says nothing; "
                "expected other numbers, or NaN to leave the datum out"
            )
        sign = 1.0 if np.median(flat.values) > 0 else -1.0
        family = RelativeFamily(flat.values, sign)
        return Independent(flat, _log_link(flat, sign), family, (self._sd.bound(flat, self.names),))


def _log_link(data: FlatData, sign: float = 1.0) -> Log:
    sizes = np.abs(data.values)
    return Log(_FLOOR * sizes, _SLACK * float(sizes.max()), sign)
