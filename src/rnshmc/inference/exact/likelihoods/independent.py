"""Likelihoods of data that are independent given the predictors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.likelihoods.base import Bound
from rnshmc.inference.exact.likelihoods.censoring import Flags, bound_flags, censored
from rnshmc.inference.exact.likelihoods.distributions import DISTRIBUTIONS, Distribution
from rnshmc.inference.exact.likelihoods.flat import flattened
from rnshmc.inference.exact.likelihoods.links import Linked
from rnshmc.inference.exact.likelihoods.scales import Scale, ScaleArgument
from rnshmc.types import Array

SMALLEST_CURVATURE = 1e-100
"""Lower bound of every curvature, so that its inverse is finite."""


@dataclass(frozen=True, eq=False, repr=False)
class Independent:
    """A likelihood before it has data: an entry of `DISTRIBUTIONS` and its arguments.

    Attributes
    ----------
    word
        Name of the entry.
    numbers
        The arguments that give its positive numbers, in the order of its formulas.
    known
        What else its ``read`` takes.
    flags
        The user's flags of censored data.
    """

    word: str
    numbers: tuple[ScaleArgument, ...] = ()
    known: tuple[Array, ...] = ()
    flags: Flags = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown numbers or of the unknown factor."""
        return tuple(dict.fromkeys(name for argument in self.numbers for name in argument.names))

    @property
    def bounds(self) -> dict[str, Bound]:
        """They are positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> "ObservedIndependent":
        """The likelihood of these data."""
        flat = flattened(data)
        link, y, constants = DISTRIBUTIONS[self.word].read(flat, *self.known)
        scales = tuple(argument.bound(flat, self.names) for argument in self.numbers)
        return ObservedIndependent(flat, link, self.word, y, scales, constants, bound_flags(self.flags, flat))


@dataclass(frozen=True, eq=False)
class ObservedIndependent(Linked):
    """An `Observed` whose likelihood is a product over the predictors.

    Attributes
    ----------
    word
        Name of the distribution.
    y
        The data as its formulas take them, shape (m,).
    scales
        Its positive numbers, as functions of the own parameters.
    constants
        Its constants.
    flags
        As for `censored`.
    """

    word: str
    y: Array
    scales: tuple[Scale, ...]
    constants: tuple[Any, ...]
    flags: npt.NDArray[np.intp]

    @property
    def distribution(self) -> Distribution:
        """That of each datum."""
        return censored(DISTRIBUTIONS[self.word], self.flags)

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood of the rows and its derivatives."""
        numbers = self._numbers(own)
        own_slopes = np.zeros((len(predictors), own.shape[1]))
        with np.errstate(all="ignore"):
            terms, slopes, by_numbers = self.distribution.terms(predictors, self.y, *self.constants, *numbers)
            for scale, slope in zip(self.scales, by_numbers, strict=True):
                own_slopes += scale.pulled_back(np.broadcast_to(slope, predictors.shape))
            values = terms.sum(axis=1)
            for part in numbers:
                values = np.where(((part > 0) & np.isfinite(part)).all(axis=1), values, np.inf)
            return finite_rows(values, slopes, own_slopes)

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives by the predictors."""
        with np.errstate(all="ignore"):
            curvatures = self.distribution.curvatures(predictors, self.y, *self.constants, *self._numbers(own))
        return np.fmax(np.broadcast_to(curvatures, predictors.shape), SMALLEST_CURVATURE)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data."""
        with np.errstate(over="ignore"):
            drawn = self.distribution.draws(rng, predictors, self.y, *self.constants, *self._numbers(own))
            return drawn if self.distribution.tail is None else self.link.outputs(drawn)

    def _numbers(self, own: Array) -> list[Array]:
        return [scale.of(own) for scale in self.scales]


def finite_rows(values: Array, *slopes: Array) -> tuple[Array, Array, Array]:
    """Rows of values and two derivatives; inf and zeros in the rows in which one of these is not finite."""
    good = np.isfinite(values)
    for slope in slopes:
        good = good & np.isfinite(slope).all(axis=1)
    first, second = (np.where(good[:, None], slope, 0.0) for slope in slopes)
    return np.where(good, values, np.inf), first, second
