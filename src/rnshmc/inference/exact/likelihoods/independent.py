"""Likelihoods that are products over the predictors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.likelihoods.flat import FlatData
from rnshmc.inference.exact.likelihoods.links import Link
from rnshmc.inference.exact.likelihoods.scales import Scale
from rnshmc.types import Array


class Family(Protocol):
    """The distribution of each datum, given its predictor and some positive numbers; the data are bound.

    Predictors have shape (k, m); each of the positive numbers has a shape that broadcasts to it.
    """

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """-log p of each datum, its derivative by the predictor, and those by the positive numbers; each (k, m)."""
        ...

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:
        """Expected second derivative of -log p by the predictor, (k, m) or what broadcasts to it."""
        ...

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """New data, (k, m)."""
        ...


SMALLEST_CURVATURE = 1e-100
"""Lower bound of every curvature, so that its inverse is finite."""


def unchanged(rows: Array) -> Array:
    """The rows."""
    return rows


@dataclass(frozen=True, eq=False)
class Independent:
    """An `Observed` whose likelihood is a product over the predictors.

    Attributes
    ----------
    data
        The data, for their places.
    link
        Predictors of outputs.
    family
        Distribution of each datum.
    scales
        The positive numbers of the family, as functions of the own parameters.
    restored
        What makes observations of the family's simulated numbers.
    """

    data: FlatData
    link: Link
    family: Family
    scales: tuple[Scale, ...] = ()
    restored: Callable[[Array], Array] = unchanged

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices of the outputs with data."""
        return self.data.present

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows."""
        return self.link.predictors(outputs[:, self.present])

    def outputs(self, predictors: Array) -> Array:
        """Outputs with data, of the rows of predictors."""
        return self.link.outputs(predictors)

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """Jacobian of the predictors at one position."""
        return self.link.jacobian(outputs[self.present], jacobian[self.present])

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs at one position."""
        pulled = np.zeros(self.data.size)
        pulled[self.present] = self.link.pulled_back(outputs[self.present], slopes)
        return pulled

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood of the rows and its derivatives."""
        numbers = self._numbers(own)
        own_slopes = np.zeros((len(predictors), own.shape[1]))
        with np.errstate(all="ignore"):
            terms, slopes, by_numbers = self.family.terms(predictors, *numbers)
            for scale, slope in zip(self.scales, by_numbers, strict=True):
                own_slopes += scale.pulled_back(np.broadcast_to(slope, predictors.shape))
            values = terms.sum(axis=1)
            for part in numbers:
                values = np.where(((part > 0) & np.isfinite(part)).all(axis=1), values, np.inf)
            return finite_rows(values, slopes, own_slopes)

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives by the predictors."""
        with np.errstate(all="ignore"):
            curvatures = self.family.curvatures(predictors, *self._numbers(own))
        return np.fmax(np.broadcast_to(curvatures, predictors.shape), SMALLEST_CURVATURE)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data."""
        with np.errstate(over="ignore"):
            return self.restored(self.family.simulated(predictors, *self._numbers(own), rng=rng))

    def _numbers(self, own: Array) -> list[Array]:
        return [scale.of(own) for scale in self.scales]


def finite_rows(values: Array, *slopes: Array) -> tuple[Array, Array, Array]:
    """Rows of values and two derivatives; inf and zeros in the rows in which one of these is not finite."""
    good = np.isfinite(values)
    for slope in slopes:
        good = good & np.isfinite(slope).all(axis=1)
    first, second = (np.where(good[:, None], slope, 0.0) for slope in slopes)
    return np.where(good, values, np.inf), first, second
