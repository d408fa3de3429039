"""Angles: parameters whose two ends are one point."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Angles:
    """Which of d parameters are angles, and an interval of one period for each: (d,), infinite for all others."""

    low: Array
    high: Array

    @classmethod
    def of(cls, ends: Mapping[int, tuple[float, float]], dim: int) -> "Angles":
        """Angles among ``dim`` parameters, by their number."""
        low, high = np.full(dim, -np.inf), np.full(dim, np.inf)
        for k, pair in ends.items():
            low[k], high[k] = pair
        return cls(low, high)

    @property
    def columns(self) -> npt.NDArray[np.intp]:
        """Numbers of the angles, (a,)."""
        return np.flatnonzero(np.isfinite(self.high))

    @property
    def periods(self) -> Array:
        """Periods of the angles, (a,)."""
        return np.asarray((self.high - self.low)[self.columns])

    def wrapped(self, theta: Array) -> Array:
        """Parameters with each angle in [low, high); rows or one point, of the first k parameters, (..., k)."""
        columns = self.columns[self.columns < theta.shape[-1]]
        low, high = self.low[columns], self.high[columns]
        some, whole = theta[..., columns], np.array(theta, dtype=np.float64)
        turned = low + np.mod(some - low, high - low)
        # Inside they are exactly the same; just below the lower end they round to the upper one.
        turned = np.where((some >= low) & (some < high), some, np.where(turned < high, turned, low))
        whole[..., columns] = turned
        return whole

    def with_images(self, points: Array) -> tuple[Array, npt.NDArray[np.intp]]:
        """Points, (n, d), and their images up to half a period beyond the ends of each angle, and whose these are."""
        places, rows = [points], [np.arange(len(points))]
        for column, period in zip(self.columns, self.periods, strict=True):
            middle = 0.5 * (self.low[column] + self.high[column])
            for turn in (-period, period):
                near = np.flatnonzero(np.abs(points[:, column] + turn - middle) < period)
                places.append(points[near] + turn * (np.arange(points.shape[1]) == column))
                rows.append(near)
        return np.concatenate(places), np.concatenate(rows)

    def around(self, centre: Array) -> "Angles":
        """The same angles with the intervals centred at a point, (d,), itself moved into the present ones."""
        middle, low, high = self.wrapped(centre)[self.columns], self.low.copy(), self.high.copy()
        low[self.columns] = middle - 0.5 * self.periods
        high[self.columns] = middle + 0.5 * self.periods
        return Angles(low, high)
