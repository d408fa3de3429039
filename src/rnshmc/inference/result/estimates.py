"""Expectations with their standard errors, and means and variances made of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.types import Array


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


def spread(draws: Array) -> Array:
    """Standard deviations of the columns, above 0: those of rounding where a column does not vary."""
    least = np.maximum(np.finfo(float).eps * np.abs(draws).max(axis=0, initial=0.0), np.finfo(float).tiny)
    return np.asarray(np.maximum(draws.std(axis=0), least))


def _scaled(estimate: Estimate, scale: Array) -> Estimate:
    return Estimate(scale * estimate.value, scale * estimate.standard_error)
