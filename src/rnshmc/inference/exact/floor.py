"""Log densities that stand for zero: a huge negative number where -inf is meant."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.types import Array

FAR = 5e3
"""Height above the lowest potential from which on a repeated one may stand for a density of zero: -1e4 is written."""
FAR_OUTPUTS = 1e10
"""The same of a forward model, whose outputs may saturate: errors of 1e5 standard deviations."""
APART = 10.0
"""Ratio of that height and the next one, at least."""
SAME = 1e-6
"""Relative difference of potentials that are one but for a prior, or a Jacobian, that was added."""
SEVERAL = 3
"""Points with that potential, at least."""
EXPLAINED = 1e-3
"""Part of the height that the slope there accounts for, at most."""
UNRESOLVED = 1e20
"""Height from which on the rounding of a potential is more than 1e4, and its differences say nothing of draws."""


class Floor:
    """Height of potentials that stand for a density of zero, by all evaluations of a run so far.

    They are a repeated potential that is far above all others where the slope does not account for it, and any that is
    so high that its rounding hides all others.

    Parameters
    ----------
    outputs
        Whether the potential is that of a forward model.
    """

    def __init__(self, *, outputs: bool) -> None:
        self._far = FAR_OUTPUTS if outputs else FAR
        self._lowest: Evaluation | None = None
        self._top: Evaluation | None = None
        self._there: set[bytes] = set()
        self._second = -math.inf

    def see(self, found: Evaluation) -> None:
        """Take account of one more evaluation."""
        value = found.value
        if not math.isfinite(value):
            return
        if self._lowest is None or value < self._lowest.value:
            self._lowest = found
        top, same = self._top, 0.0 if self._top is None else SAME * abs(self._top.value)
        if top is None or value > top.value + same:
            self._second = -math.inf if top is None else top.value
            self._top, self._there = found, {found.point.tobytes()}
        elif value < top.value - same:
            self._second = max(self._second, value)
        else:
            self._there.add(found.point.tobytes())
            self._top = found if top.gradient is None else top

    @property
    def repeated(self) -> float:
        """Potential from which on one that is repeated stands for zero; infinite where there is none."""
        if self._lowest is None or not self._apart or len(self._there) < SEVERAL:
            return math.inf
        return self._lowest.value + 0.5 * self._height

    @property
    def level(self) -> float:
        """Potential from which on the density counts as zero; infinite before any."""
        if self._lowest is None:
            return math.inf
        return min(self.repeated, self._lowest.value + max(UNRESOLVED, APART * abs(self._lowest.value)))

    def without_density(self, found: Evaluation) -> Evaluation:
        """The evaluation, with a density of zero where its potential stands for that."""
        if math.isfinite(found.value) and found.value >= self.level:
            return replace(found, value=math.inf, gradient=None)
        return found

    @property
    def constant(self) -> bool:
        """Whether all potentials so far are one: the density is zero at all of these points, or flat."""
        return self._height <= SAME * abs(self._top.value if self._top else 0.0)

    def neighbours(self) -> Iterator[Array]:
        """Points near one whose potential may be a floor, as long as too few have it to tell."""
        for share in range(1, SEVERAL):
            if self._top is not None and self._lowest is not None and self._apart and len(self._there) < SEVERAL:
                yield self._top.point + 0.01 * share * (self._lowest.point - self._top.point)

    @property
    def _height(self) -> float:
        return 0.0 if self._top is None or self._lowest is None else self._top.value - self._lowest.value

    @property
    def _apart(self) -> bool:
        """Whether the highest potential is far above all others, and its slope does not account for that."""
        lowest, top, height = self._lowest, self._top, self._height
        if lowest is None or top is None or height < self._far or self._second - lowest.value > height / APART:
            return False
        with np.errstate(over="ignore"):
            slope = 0.0 if top.gradient is None else abs(float(top.gradient @ (lowest.point - top.point)))
        return slope <= EXPLAINED * height
