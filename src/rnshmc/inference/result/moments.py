"""Means, standard deviations and quantiles of functions of the parameters, with standard errors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers, users_errstate
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate, average
from rnshmc.inference.result.mixture import Mixture
from rnshmc.types import Array

WINDOW = 0.01
"""Minimum distance, in probability, over which the slope of a quantile function is measured."""

Drawn = Corrected | Mixture | Array
"""Values of functions for expectations: a surrogate's ``moved``, or values along exact chains, (chains, n, k).

``mixed`` below: whether exact chains sample one distribution. If not, there are no standard errors.
"""


def by_rows(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """The function, checked to return one row for each draw; raises a `ParameterError` otherwise."""

    def checked(theta: Array) -> Array:
        with users_errstate():
            values = numbers(function(theta), "function")
        if values.ndim not in (1, 2) or len(values) != len(theta):
            raise ParameterError(f"function: expected a row for each of {len(theta)} draws, got shape {values.shape}")
        return values

    return checked


def expectation(drawn: Drawn, *, mixed: bool) -> Estimate:
    """Means of the columns, with standard errors; the columns are of one scale, see `Corrected.expectation`."""
    return drawn.expectation(lambda y: y) if isinstance(drawn, Corrected | Mixture) else average(drawn, mixed=mixed)


def moments(drawn: Drawn, *, mixed: bool) -> tuple[Estimate, Estimate]:
    """Means and standard deviations of the columns, (k,), with standard errors."""
    if isinstance(drawn, Corrected | Mixture):
        return drawn.mean(), _root(drawn.variance())
    mean = average(drawn, mixed=mixed)
    return mean, _root(average((drawn - mean.value) ** 2, mixed=mixed))


def finite_columns(drawn: Drawn) -> npt.NDArray[np.bool_]:
    """Which of the columns are finite everywhere, (k,)."""
    if isinstance(drawn, Mixture):
        return np.asarray(np.all([finite_columns(part) for part in drawn.parts], axis=0))
    if isinstance(drawn, Corrected):
        parts = (drawn.draws, drawn.measuring, drawn.paths.points, drawn.tails.points)
        return np.asarray(np.all([np.isfinite(part).all(axis=0) for part in parts], axis=0))
    return np.asarray(np.isfinite(drawn).all(axis=(0, 1)))


def picked(drawn: Drawn, columns: npt.NDArray[np.bool_]) -> Drawn:
    """Some of the columns."""
    return drawn.moved(lambda y: y[:, columns]) if isinstance(drawn, Corrected | Mixture) else drawn[:, :, columns]


def _root(variance: Estimate) -> Estimate:
    """Standard deviations from variances; one that noise made negative is 0."""
    sd = np.sqrt(np.maximum(variance.value, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Estimate(sd, variance.standard_error / (2.0 * sd))


def quantiles(drawn: Drawn, probabilities: float | Sequence[float], *, mixed: bool) -> Estimate:
    """Quantiles of the columns: a row for each probability, or one without that dimension for a number."""
    wanted = np.atleast_1d(numbers(probabilities, "probabilities"))
    if wanted.ndim > 1 or not ((wanted > 0.0) & (wanted < 1.0)).all():
        raise ParameterError(f"probabilities: expected numbers between 0 and 1, got {probabilities!r}")
    if isinstance(drawn, Corrected | Mixture):
        found = corrected_quantiles(drawn, wanted)
    else:
        found = chain_quantiles(drawn, wanted, mixed=mixed)
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


def chain_quantiles(chains: Array, probabilities: Array, *, mixed: bool) -> Estimate:
    """Quantiles over all draws of some chains, (chains, n, ...), at probabilities (p,): (p, ...); NaN without draws.

    Standard errors are by effective sample sizes.
    """
    rest = chains.shape[2:]
    ordered = np.sort(chains.reshape(-1, *rest), axis=0)
    if not len(ordered):
        unknown = np.full((len(probabilities), *rest), np.nan)
        return Estimate(unknown, unknown)
    found = np.quantile(ordered, probabilities, axis=0)
    below = (chains[:, :, None] <= found).astype(np.float64)
    error = average(below.reshape(*chains.shape[:2], -1), mixed=mixed).standard_error.reshape(found.shape)
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
