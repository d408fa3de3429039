"""Which draws of a surrogate decide variances, where these are made of a few draws in a long tail."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from rnshmc.inference.surrogate.weights import Weights, measured_shift
from rnshmc.types import Array

LONG = 5.0
"""Kurtosis above which a tail is long. A normal law has 3, a logistic one 4.2, a Laplace one 6."""
LARGEST = 50.0
"""Logarithm of the largest weight that differs from others."""


@dataclass(frozen=True, eq=False)
class Influence:
    """By how much points decide the variances of coordinates with long tails.

        r(x) = mean over these coordinates of (z_j^2 - 1)^2 / E (z_j^2 - 1)^2,  z_j = (x_j - E x_j) / sd(x_j)

    with moments over draws of the surrogate.

    Attributes
    ----------
    forward
        To the coordinates whose variances are wanted, from rows (n, d) to (n, d).
    columns
        Coordinates with long tails, (k,).
    centre, scale, squared
        Means and standard deviations of these, and the mean squares of z_j^2 - 1, (k,).
    most
        Largest influence of a point: one draw must not be all that is chosen.
    mean
        Mean over the draws of what is no larger than that.
    """

    forward: Callable[[Array], Array]
    columns: npt.NDArray[np.intp]
    centre: Array
    scale: Array
    squared: Array
    most: float
    mean: float

    @classmethod
    def over(cls, draws: Array, forward: Callable[[Array], Array]) -> Self:
        """Over draws (n, d), before they are moved. Coordinates that are not finite there are left out."""
        at, draws = draws, forward(draws)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = draws.mean(axis=0)
            scale = np.maximum(draws.std(axis=0), np.finfo(float).tiny)
            squared = ((((draws - centre) / scale) ** 2 - 1.0) ** 2).mean(axis=0)
        # The kurtosis less 1.
        [columns] = np.nonzero((squared > LONG - 1.0) & np.isfinite(squared))
        most = float(np.sqrt(len(draws)))
        one = cls(forward, columns, centre[columns], scale[columns], squared[columns], most, 1.0)
        return replace(one, mean=float(one.at(at).mean())) if one.long else one

    @property
    def long(self) -> bool:
        """Whether there is a long tail."""
        return len(self.columns) > 0

    def at(self, x: Array) -> Array:
        """r at the rows of x, (n,), at most `most`."""
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum((self._squares(x) ** 2 / self.squared).mean(axis=1), self.most))

    def _squares(self, x: Array) -> Array:
        """z_j^2 - 1 at the rows of x, (n, k)."""
        with np.errstate(over="ignore"):
            return np.asarray(((self.forward(x)[:, self.columns] - self.centre) / self.scale) ** 2 - 1.0)

    def noise(self, checked: Array, weights: Weights, chosen: Array, differences: Array) -> float:
        """Largest variance of a measured shift of E z_j^2, in units of a draw's.

        Parameters
        ----------
        checked, weights
            Draws of the surrogate with exact values, (m, d), and their importance weights.
        chosen, differences
            Those that were chosen, (k, d), and U - V there.
        """
        both = np.concatenate((checked, chosen))
        base = self.base(both, len(checked), len(chosen))
        squares = self._squares(both)
        _, noise = measured_shift(with_base(weights, differences, base), base, squares)
        return float((noise / self.squared).max())

    def base(self, x: Array, checked: int, chosen: int) -> Array:
        """Importance weights to the surrogate of so many of its draws and others that were chosen, at rows, (n,)."""
        return np.asarray((checked + chosen) / (checked + chosen * self.at(x) / self.mean))


@dataclass(frozen=True, eq=False)
class Chosen:
    """Draws of the surrogate that were chosen in proportion to their influence.

    Together with the checked draws, of which there are m, these k are draws of (m p + k r p / E r) / (m + k), where p
    is the density of the surrogate (the balance heuristic of Veach and Guibas 1995).

    Attributes
    ----------
    points
        In x, (k, d).
    differences
        U - V there, up to the constant that those of the checked draws have, (k,); inf where the density is zero.
    base
        Importance weights from that density to the surrogate's: of the checked draws, then of these, (m + k,).
    at_paths
        The same at the points of the process's posteriors.
    """

    points: Array
    differences: Array
    base: Array
    at_paths: Array

    def weights(self, checked: Weights) -> Array:
        """Those of the checked draws and of these to the exact density, up to a factor, (m + k,)."""
        return with_base(checked, self.differences, self.base)


def with_base(checked: Weights, differences: Array, base: Array) -> Array:
    """Importance weights to the exact density of checked draws, and of others with these U - V, (m + k,).

    Those of the latter are not smoothed: a large one is all that is known, and makes errors that say so.
    """
    others = np.exp(np.minimum(-differences - checked.log_mean, LARGEST))
    return np.asarray(base * np.concatenate((checked.weights, others)))
