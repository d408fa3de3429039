"""Averages over chains, with standard errors by effective sample sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnshmc.diagnostics.summary import MIN_DRAWS, effective_sizes
from rnshmc.errors import ParameterError
from rnshmc.inference.errstate import users_errstate
from rnshmc.inference.given import numbers
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.long_tails import excess_variance
from rnshmc.types import Array


def average(chains: Array, *, mixed: bool = True) -> Estimate:
    """Mean over all draws of some chains, with a standard error by the effective sample size of these values.

    The variance of a long tail counts as in `excess_variance`.

    Parameters
    ----------
    chains
        Values along chains, shape (chains, n) or (chains, n, k). Both are NaN where there are none, the standard error
        where the chains are too short for one.
    mixed
        Whether the chains are draws of one distribution. If not, there is no standard error.
    """
    shape = chains.shape[2:]
    if chains.shape[0] * chains.shape[1] == 0:
        return Estimate(np.full(shape, np.nan), np.full(shape, np.nan))
    mean = np.asarray(chains.mean(axis=(0, 1)))
    if not mixed or chains.shape[1] < MIN_DRAWS or not np.isfinite(chains).all():
        return Estimate(mean, np.full(shape, np.nan))
    values = chains.reshape(*chains.shape[:2], -1)
    centred = (values - values.mean(axis=(0, 1))).reshape(-1, values.shape[2])
    variance = (centred**2).mean(axis=0) + excess_variance(centred)
    return Estimate(mean, np.sqrt(variance / effective_sizes(values)).reshape(shape))


def by_rows(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """The function, checked to return one row for each draw.

    Raises
    ------
    ParameterError
        When called, if it returns another number of rows.
    """

    def checked(theta: Array) -> Array:
        with users_errstate():
            values = numbers(function(theta), "function")
        if values.ndim not in (1, 2) or len(values) != len(theta):
            raise ParameterError(f"function: expected a row for each of {len(theta)} draws, got shape {values.shape}")
        return values

    return checked


def moments_of_chains(draws: Array, *, mixed: bool) -> tuple[Estimate, Estimate]:
    """Means and variances of chains, (chains, n, d): unknown if they are short, and without errors if not mixed."""
    if draws.shape[1] < MIN_DRAWS:
        unknown = np.full(draws.shape[2], np.nan)
        return Estimate(unknown, unknown), Estimate(unknown, unknown)
    mean = average(draws, mixed=mixed)
    return mean, average((draws - mean.value) ** 2, mixed=mixed)
