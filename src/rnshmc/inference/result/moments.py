"""Means, standard deviations and quantiles of functions of the parameters, with standard errors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers, users_errstate
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Averages, Estimate, average
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.outcome import Outcome
from rnshmc.types import Array

WINDOW = 0.01
"""Minimum distance, in probability, over which the slope of a quantile function is measured."""

Drawn = Corrected | Mixture | Averages
"""Draws of a surrogate with their corrections, or exact chains; their columns may be functions of the parameters."""


def expectations_of(outcome: Outcome) -> Drawn:
    """Corrected expectations with the surrogate, averages over the exact chains without."""
    return outcome.surrogate or Averages(outcome.draws, outcome.mixed)


def by_rows(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """The function, checked to return one row for each draw; raises a `ParameterError` otherwise."""

    def checked(theta: Array) -> Array:
        with users_errstate():
            values = numbers(function(theta), "function")
        if values.ndim not in (1, 2) or len(values) != len(theta):
            raise ParameterError(f"function: expected a row for each of {len(theta)} draws, got shape {values.shape}")
        return values

    return checked


def moments(drawn: Drawn) -> tuple[Estimate, Estimate]:
    """Means and standard deviations of the columns, (k,), with standard errors; 0 where noise made a variance < 0."""
    variance = drawn.variance()
    sd = np.sqrt(np.maximum(variance.value, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return drawn.mean(), Estimate(sd, variance.standard_error / (2.0 * sd))


def finite_columns(drawn: Drawn) -> npt.NDArray[np.bool_]:
    """Which of the columns are finite everywhere, (k,)."""
    if isinstance(drawn, Mixture):
        return np.asarray(np.all([finite_columns(part) for part in drawn.parts], axis=0))
    if isinstance(drawn, Averages):
        return np.asarray(np.isfinite(drawn.chains).all(axis=(0, 1)))
    parts = (drawn.draws, drawn.measuring, drawn.paths.points, drawn.tails.points)
    return np.asarray(np.all([np.isfinite(part).all(axis=0) for part in parts], axis=0))


def quantiles(drawn: Drawn, probabilities: float | Sequence[float]) -> Estimate:
    """Quantiles of the columns: a row for each probability, or one without that dimension for a number."""
    wanted = np.atleast_1d(numbers(probabilities, "probabilities"))
    if wanted.ndim > 1 or not ((wanted > 0.0) & (wanted < 1.0)).all():
        raise ParameterError(f"probabilities: expected numbers between 0 and 1, got {probabilities!r}")
    found = chain_quantiles(drawn, wanted) if isinstance(drawn, Averages) else corrected_quantiles(drawn, wanted)
    first = ... if np.ndim(probabilities) else 0
    return Estimate(np.asarray(found.value[first]), np.asarray(found.standard_error[first]))


def corrected_quantiles(corrected: Corrected | Mixture, probabilities: Array) -> Estimate:
    """Values at which the corrected distribution functions of the columns reach probabilities (p,): (p, ...).

    Bisection over the draws of the surrogate brings the corrected expectation of 1[y <= q] to p. Its standard error
    becomes that of q by the slope of the quantile function (Woodruff 1952).
    """
    ordered = np.sort(corrected.draws, axis=0)
    count, rest = len(ordered), ordered.shape[1:]
    targets = np.broadcast_to(probabilities.reshape(-1, *(1 for _ in rest)), (len(probabilities), *rest))
    # The first of the ordered draws at which the distribution function is p or more.
    low, high = np.zeros(targets.shape, dtype=int), np.full(targets.shape, count - 1)
    while (low < high).any():
        middle = (low + high) // 2
        enough = _distribution(corrected, np.take_along_axis(ordered, middle, axis=0)).value >= targets
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    found = np.take_along_axis(ordered, low, axis=0)
    error = _distribution(corrected, found).standard_error
    return Estimate(found, error * _slopes(ordered, (low + 0.5) / count, error))


def chain_quantiles(averages: Averages, probabilities: Array) -> Estimate:
    """Quantiles over all draws of some chains at probabilities (p,): (p, ...); NaN without draws.

    Standard errors are by effective sample sizes.
    """
    chains, rest = averages.chains, averages.chains.shape[2:]
    ordered = np.sort(chains.reshape(-1, *rest), axis=0)
    if not len(ordered):
        unknown = np.full((len(probabilities), *rest), np.nan)
        return Estimate(unknown, unknown)
    found = np.quantile(ordered, probabilities, axis=0)
    below = (chains[:, :, None] <= found).astype(np.float64)
    error = average(below.reshape(*chains.shape[:2], -1), mixed=averages.mixed).standard_error.reshape(found.shape)
    places = np.broadcast_to(probabilities.reshape(-1, *(1 for _ in rest)), found.shape)
    return Estimate(found, error * _slopes(ordered, places, error))


def _distribution(corrected: Corrected | Mixture, at: Array) -> Estimate:
    """Corrected probabilities that the columns are at most the rows of ``at``, (p, ...)."""
    found = corrected.expectation(lambda y: (y[:, None] <= at).astype(np.float64).reshape(len(y), at.size))
    return Estimate(found.value.reshape(at.shape), found.standard_error.reshape(at.shape))


def _slopes(ordered: Array, places: Array, errors: Array) -> Array:
    """Slopes of quantile functions, (p, ...), about probabilities with these errors, of ordered values, (s, ...)."""
    width = np.maximum(np.nan_to_num(errors), WINDOW)
    low, high = np.maximum(places - width, 0.0), np.minimum(places + width, 1.0)
    last = len(ordered) - 1
    lower, upper = (np.take_along_axis(ordered, np.rint(p * last).astype(int), axis=0) for p in (low, high))
    return np.asarray((upper - lower) / (high - low))
