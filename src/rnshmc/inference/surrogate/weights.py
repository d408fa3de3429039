"""Importance weights from surrogate to exact posterior, with Pareto-smoothed tails (Vehtari et al. 2024).

Where variances rest on a few draws in a long tail, exact values are chosen there, and weights account for the choice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from rnshmc.diagnostics.importance import pareto_smoothed
from rnshmc.inference.tuning_shared import MANY
from rnshmc.types import Array

USELESS_K = 1.0
"""Tail shape from which on weights have no mean (Vehtari et al. 2024)."""
MOST_RELIABLE_K = 0.7
"""Tail shape up to which weights average reliably, however many there are (Vehtari et al. 2024)."""
EVEN = 0.9
"""Efficiency above which the tail of a few dozen weights does not matter."""
EXPONENTS = (-50.0, 3.0)
"""Log weights, relative to the median, outside which `weight_variance` clips: one large weight must not decide it."""
LONG = 5.0
"""Kurtosis above which a tail is long. A normal law has 3, a logistic one 4.2, a Laplace one 6."""
LARGEST = 50.0
"""Logarithm of the largest weight of a chosen draw that differs from others."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Smoothed weights of surrogate draws."""

    weights: Array
    """Mean 1, all finite; shape (m,)."""
    pareto_k: float
    """Shape of the tail. NaN where there are too few weights to fit one."""
    efficiency: float
    """(sum w)^2 / (m sum w^2), between 1 / m and 1."""
    log_mean: float
    """log of their mean before they were scaled to a mean of 1; -inf if all are zero."""

    @property
    def heavy(self) -> bool:
        """Whether they have a tail that decides their averages."""
        return self.efficiency < EVEN and self.pareto_k > USELESS_K


def reliable_k(count: int) -> float:
    """Tail shape up to which ``count`` weights average reliably: min(1 - 1 / log10 count, 0.7).

    NaN for fewer than `MANY`, where the estimate itself is noise. (Vehtari et al. 2024, section 3.2.4.)
    """
    return min(1.0 - 1.0 / math.log10(count), MOST_RELIABLE_K) if count >= MANY else math.nan


def smoothed(log_weights: Array) -> Weights:
    """Weights from their logarithms, the tail smoothed; -inf is a weight of zero.

    Weights are finite; if all are zero, the efficiency is 0.
    """
    if not np.isfinite(np.max(log_weights, initial=-np.inf)):
        return Weights(np.zeros(len(log_weights)), math.inf, 0.0, -math.inf)
    logarithms, pareto_k = pareto_smoothed(log_weights)
    highest = float(logarithms.max())
    weights = np.exp(logarithms - highest)
    mean = float(weights.mean())
    weights /= mean
    return Weights(weights, pareto_k, float(1.0 / (weights**2).mean()), highest + math.log(mean))


def weight_variance(differences: Array) -> float:
    """Variance of the weights exp(V - U) over their squared mean, from a few U - V; robust to a single large weight.

    inf where fewer than two differences are finite.
    """
    finite = differences[np.isfinite(differences)]
    if len(finite) < 2:
        return math.inf
    weights = np.exp(np.clip(np.median(finite) - differences, *EXPONENTS))
    return float(((weights - 1.0) ** 2).sum() / (len(weights) - 1))


def zero_variance(differences: Array) -> float:
    """Variance of the weights over their squared mean that is due to draws of zero density."""
    share = float(np.mean(~np.isfinite(differences))) if len(differences) else 0.0
    return share / (1.0 - share) if share < 1.0 else np.inf


def measured_shift(weights: Array, base: Array, centred: Array) -> tuple[Array, Array]:
    """Mean of (w - 1) f over draws, and its variance, to first order: the mean of w is random, too.

    Importance weights are to the exact density and, ``base``, to the surrogate, (m,), of any mean: averages are divided
    by it, so that an exact surrogate has no shift. ``centred`` is f less its mean over the surrogate, (m, ...).
    """
    shape, least = (-1,) + (1,) * (centred.ndim - 1), float(np.finfo(float).tiny)
    weights, base = (np.asarray(one.reshape(shape) / max(float(one.mean()), least)) for one in (weights, base))
    mean, plain = (weights * centred).mean(axis=0), (base * centred).mean(axis=0)
    terms = weights * (centred - mean) - base * (centred - plain)
    return mean - plain, terms.var(axis=0, ddof=1) / len(terms)


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence of points on the variances of coordinates with long tails.

        r(x) = mean over these coordinates of (z_j^2 - 1)^2 / E (z_j^2 - 1)^2,  z_j = (x_j - E x_j) / sd(x_j)

    with moments over draws of the surrogate.
    """

    forward: Callable[[Array], Array]
    """To the coordinates whose variances are wanted, from rows (n, d) to (n, d)."""
    columns: npt.NDArray[np.intp]
    """Coordinates with long tails, (k,)."""
    centre: Array
    scale: Array
    squared: Array
    """Mean squares of z_j^2 - 1, (k,); ``centre`` and ``scale`` are means and standard deviations of these columns."""
    most: float
    """Largest influence of a point, so that more than one draw is chosen."""
    mean: float
    """Mean over the draws, up to that bound."""

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
        return replace(one, mean=float(one.at(at).mean())) if len(columns) else one

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

        By draws of the surrogate with exact values, (m, d), and their weights, and by chosen draws, (k, d), and U - V
        there.
        """
        both = np.concatenate((checked, chosen))
        base = self.base(both, len(checked), len(chosen))
        squares = self._squares(both)
        _, noise = measured_shift(_with_base(weights, differences, base), base, squares)
        return float((noise / self.squared).max())

    def base(self, x: Array, checked: int, chosen: int) -> Array:
        """Importance weights to the surrogate of so many of its draws and of chosen ones, at rows, (n,)."""
        return np.asarray((checked + chosen) / (checked + chosen * self.at(x) / self.mean))


@dataclass(frozen=True, eq=False)
class Chosen:
    """Draws of the surrogate that were chosen in proportion to their influence.

    Together with the checked draws, of which there are m, these k are draws of (m p + k r p / E r) / (m + k), where p
    is the density of the surrogate (the balance heuristic of Veach and Guibas 1995).
    """

    points: Array
    """In x, (k, d)."""
    differences: Array
    """U - V there, up to the same constant as for the checked draws, (k,); inf where the density is zero."""
    base: Array
    """Importance weights from that density to the surrogate's: of the checked draws, then of these, (m + k,)."""
    at_paths: Array
    """The same at the points of the process's posteriors."""

    def weights(self, checked: Weights) -> Array:
        """Weights of the checked draws and of these to the exact density, up to a factor, (m + k,)."""
        return _with_base(checked, self.differences, self.base)


def _with_base(checked: Weights, differences: Array, base: Array) -> Array:
    """Importance weights to the exact density of checked draws, and of others with these U - V, (m + k,).

    The latter are not smoothed: a large one is all that is known, and the errors include it.
    """
    others = np.exp(np.minimum(-differences - checked.log_mean, LARGEST))
    return np.asarray(base * np.concatenate((checked.weights, others)))
