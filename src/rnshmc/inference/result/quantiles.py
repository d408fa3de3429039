"""Quantiles of functions of the parameters, with standard errors."""

from collections.abc import Sequence

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers
from rnshmc.inference.result.averages import average
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.moments import Drawn
from rnshmc.types import Array

WINDOW = 0.01
"""Least distance, in probability, over which the slope of a quantile function is measured."""


def quantiles(drawn: Drawn, probabilities: float | Sequence[float], *, mixed: bool) -> Estimate:
    """Quantiles of the columns, with standard errors: `corrected_quantiles` or `chain_quantiles`.

    Returns
    -------
    Estimate
        A row for each probability, or one without that dimension for a number.

    Raises
    ------
    ParameterError
        If a probability is not between 0 and 1.
    """
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
    """Where the corrected distribution functions of the columns reach each probability.

    The corrected expectation of 1[y <= q] is brought to p by bisection over the draws of the surrogate. Its standard
    error becomes that of q by the slope of the quantile function (Woodruff 1952).

    Parameters
    ----------
    corrected
        With values of functions, (s, ...), in place of positions: its ``moved``.
    probabilities
        Shape (p,), between 0 and 1.

    Returns
    -------
    Estimate
        Shape (p, ...).
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
    """Quantiles of the columns over all draws of some chains, with standard errors by effective sample sizes.

    Parameters
    ----------
    chains
        Values along chains, (chains, n, ...). Quantiles are NaN where there are none.
    probabilities
        Shape (p,), between 0 and 1.
    mixed
        Whether the chains are draws of one distribution. If not, there is no standard error.

    Returns
    -------
    Estimate
        Shape (p, ...).
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
