"""Priors by distributions of scipy.stats."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rnshmc.inference.exact.priors.named import centre_of, scale_of
from rnshmc.inference.exact.rows import STEP
from rnshmc.types import Array

NEAR = 1e-3
"""Largest step relative to the distance from an end of the support, where a density may be a power of that distance:
the relative error of its slope is then about the square of this."""


@dataclass(frozen=True, eq=False)
class FrozenPrior:
    """One parameter with a continuous distribution of scipy.stats; its gradient is a central difference.

    Attributes
    ----------
    distribution
        The frozen distribution.
    """

    distribution: Any

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Its support, if that is not the whole line."""
        low, high = (float(side) for side in self.distribution.support())
        return {0: (low, high)} if np.isfinite([low, high]).any() else {}

    @property
    def centre(self) -> Array:
        """Its mean, or the median if it has none."""
        return centre_of(self.distribution)

    @property
    def scale(self) -> Array:
        """Its standard deviation; NaN if infinite."""
        return scale_of(self.distribution)

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density and gradient; steps are relative to the spread, or to the distance from its support's end."""
        column, (low, high) = x[:, 0], self.distribution.support()
        lower, median, upper = self._quartiles
        steps = STEP * np.maximum(np.abs(column - median), upper - lower)
        steps = np.minimum(steps, NEAR * np.minimum(np.abs(column - low), np.abs(high - column)))
        with np.errstate(all="ignore"):
            values = -self.distribution.logpdf(column)
            ahead, behind = (-self.distribution.logpdf(column + step) for step in (steps, -steps))
            slopes = (ahead - behind) / (2.0 * steps)
        good = np.isfinite(values) & np.isfinite(slopes)
        return np.where(good, values, np.inf), np.where(good, slopes, 0.0)[:, None]

    @cached_property
    def _quartiles(self) -> tuple[float, float, float]:
        lower, median, upper = self.distribution.ppf([0.25, 0.5, 0.75]).tolist()
        return lower, median, upper

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws."""
        return np.asarray(self.distribution.rvs(size=(n, 1), random_state=rng))


def is_frozen(distribution: Any) -> bool:
    """Whether it is a continuous distribution of scipy.stats for one number, with its parameters."""
    return all(hasattr(distribution, name) for name in ("logpdf", "support", "rvs", "ppf", "median", "std"))
