"""Expectations with their standard errors, corrected ones and averages over chains."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.diagnostics.importance import pareto_smoothed
from rnshmc.diagnostics.summary import MIN_DRAWS, effective_sizes
from rnshmc.types import Array

LONG = 0.5
"""Tail shape above which a variance is infinite: that of draws is then too small, and no draw is missed below."""
BEYOND = 20.0
"""Reach of the tail that is allowed for: exceeded once in that many sets of draws."""
NODES = 400
SHORT = 4.0
"""Largest size, in units of the 99% quantile, up to which no tail is fitted: fits take a hundred times as long. Of
25600 values with a tail of shape `LONG` the largest is less with a probability of e^-16."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An expectation and its standard error, of the same shape."""

    value: Array
    standard_error: Array

    @classmethod
    def stacked(cls, each: "Sequence[Estimate]") -> "Estimate":
        """Several of one shape as one, with a row for each."""
        return cls(np.array([one.value for one in each]), np.array([one.standard_error for one in each]))


class Moments(ABC):
    """Corrected means and variances, from corrected expectations."""

    @property
    @abstractmethod
    def scale(self) -> Array:
        """Units in which errors of the coordinates are alike, (d,)."""

    @abstractmethod
    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function of the rows, with its standard error."""

    def mean(self) -> Estimate:
        """Corrected means of the coordinates."""
        scale = self.scale
        return _scaled(self.expectation(lambda x: x / scale), scale)

    def variance(self) -> Estimate:
        """Corrected variances of the coordinates."""
        centre, scale = self.mean().value, self.scale
        return _scaled(self.expectation(lambda x: ((x - centre) / scale) ** 2), scale**2)


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages over values along exact chains, (chains, n, k) or (chains, n); without errors if they have not mixed."""

    chains: Array
    mixed: bool

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Average of a function of the rows."""
        return average(self.moved(function).chains, mixed=self.mixed)

    def mean(self) -> Estimate:
        """Means of the values."""
        return average(self.chains, mixed=self.mixed)

    def variance(self) -> Estimate:
        """Variances of the values."""
        return average((self.chains - self.mean().value) ** 2, mixed=self.mixed)

    def moved(self, to: Callable[[Array], Array]) -> "Averages":
        """Averages over a function of the rows."""
        values = to(self.chains.reshape(-1, *self.chains.shape[2:]))
        return Averages(values.reshape(*self.chains.shape[:2], *values.shape[1:]), self.mixed)


def spread(draws: Array) -> Array:
    """Standard deviations of the columns, at least that of rounding."""
    least = np.maximum(np.finfo(float).eps * np.abs(draws).max(axis=0, initial=0.0), np.finfo(float).tiny)
    return np.asarray(np.maximum(draws.std(axis=0), least))


def _scaled(estimate: Estimate, scale: Array) -> Estimate:
    return Estimate(scale * estimate.value, scale * estimate.standard_error)


def average(chains: Array, *, mixed: bool = True) -> Estimate:
    """Mean of values along chains, (chains, n) or (chains, n, k), with a standard error by their effective sample size.

    The variance of a long tail counts as in `excess_variance`. Without draws both are NaN; the standard error also
    where chains are too short, or have not ``mixed``.
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


def excess_variance(centred: Array) -> Array:
    """Variance that values less their mean, (n,) or (n, k), lack because few are in a tail; 0 where no tail is long.

    A generalised Pareto law is fitted to the largest |f|, as for importance weights (Vehtari et al. 2024). Where its
    shape is above `LONG`, its second moment up to a quantile that draws hardly reach replaces theirs.
    """
    columns = np.abs(centred).reshape(len(centred), -1).T.copy()
    return np.array([_excess(column) for column in columns]).reshape(centred.shape[1:])


def _excess(sizes: Array) -> float:
    count = int(min(0.2 * len(sizes), 3.0 * np.sqrt(len(sizes))))
    if count < 2 or sizes.max() <= SHORT * np.quantile(sizes, 0.99):
        return 0.0
    with np.errstate(divide="ignore"):
        shape = pareto_smoothed(np.log(sizes))[1]
    if not shape > LONG:
        return 0.0
    tail = np.sort(sizes)[-count:]
    # The median of the excesses, for their mean may not exist.
    scale = shape * float(np.median(tail - tail[0])) / (2.0**shape - 1.0)
    above = np.geomspace(1.0 / (BEYOND * count), 1.0, NODES)
    squares = (tail[0] + scale / shape * (above**-shape - 1.0)) ** 2
    expected = float(((squares[1:] + squares[:-1]) @ np.diff(above)) / 2.0)
    return max(0.0, expected - float((tail**2).mean())) * count / len(sizes)
