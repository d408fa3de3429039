"""Evaluations in unbounded coordinates, and log densities that stand for zero among them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from rnshmc.inference.exact.evaluation import FARTHEST, Evaluation, usable, within
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.warp import Coordinates
from rnshmc.types import Array

FAR = 5e3
"""Minimum height, above the lowest potential, of a repeated one that may stand for a density of zero, such as 1e4."""
FAR_OUTPUTS = 1e10
"""The same for a forward model, whose outputs may saturate: errors of 1e5 standard deviations."""
APART = 10.0
"""Minimum ratio of that height and the next one."""
SAME = 1e-6
"""Relative difference of potentials that are equal up to a prior or a Jacobian."""
SEVERAL = 3
"""Minimum number of points with that potential."""
EXPLAINED = 1e-3
"""Maximum part of the height that the slope there explains."""
UNRESOLVED = 1e20
"""Height above which rounding errors of a potential exceed 1e4, so that its differences carry no information."""


class Floor:
    """Height of potentials that stand for a density of zero, from all evaluations of a run so far.

    These are a repeated potential far above all others that the slope there does not explain, and any so high that its
    rounding hides all others. The threshold depends on whether potentials are those of a forward model, ``outputs``.
    """

    def __init__(self, *, outputs: bool) -> None:
        self._far = FAR_OUTPUTS if outputs else FAR
        # Before the first evaluation: any is lower than the lowest, and higher than the highest.
        self._lowest = Evaluation(np.empty(0), math.inf)
        self._top = Evaluation(np.empty(0), -math.inf)
        self._there: set[bytes] = set()
        self._second = -math.inf

    def see(self, found: Evaluation) -> None:
        """Include one more evaluation."""
        value = found.value
        if not math.isfinite(value):
            return
        if value < self._lowest.value:
            self._lowest = found
        top, same = self._top, SAME * abs(self._top.value)
        if not self._there or value > top.value + same:
            self._second, self._top, self._there = top.value, found, {found.point.tobytes()}
        elif value < top.value - same:
            self._second = max(self._second, value)
        else:
            self._there.add(found.point.tobytes())
            self._top = found if top.gradient is None else top

    @property
    def repeated(self) -> float:
        """Potential above which a repeated one stands for zero density; infinite where there is none."""
        if not self._apart or len(self._there) < SEVERAL:
            return math.inf
        return self._lowest.value + 0.5 * self._height

    @property
    def level(self) -> float:
        """Potential above which the density counts as zero; infinite before any evaluation."""
        return min(self.repeated, self._lowest.value + max(UNRESOLVED, APART * abs(self._lowest.value)))

    def without_density(self, found: Evaluation) -> Evaluation:
        """The evaluation, with a density of zero where its potential stands for zero."""
        if math.isfinite(found.value) and found.value >= self.level:
            return replace(found, value=math.inf, gradient=None)
        return found

    @property
    def constant(self) -> bool:
        """Whether all potentials so far are equal: the density is zero at all of these points, or flat."""
        return self._height <= SAME * abs(self._top.value)

    def neighbours(self) -> Iterator[Array]:
        """Points near one whose potential may be a floor, as long as too few have it to decide."""
        for share in range(1, SEVERAL):
            if self._apart and len(self._there) < SEVERAL:
                yield self._top.point + 0.01 * share * (self._lowest.point - self._top.point)

    @property
    def _height(self) -> float:
        return self._top.value - self._lowest.value

    @property
    def _apart(self) -> bool:
        """Whether the highest potential is far above all others, and its slope does not explain that."""
        lowest, top, height = self._lowest, self._top, self._height
        if height < self._far or self._second - lowest.value > height / APART:
            return False
        with np.errstate(over="ignore"):
            slope = 0.0 if top.gradient is None else abs(float(top.gradient @ (lowest.point - top.point)))
        return slope <= EXPLAINED * height


class Placed:
    """Evaluations in some coordinates, one per point, preferably with a gradient.

    Evaluations ``given``, in the user's coordinates, are left out where they lie outside the bounds or a bend moves
    them too far. Potentials of a forward model are computed from its runs by ``forward_posterior``. ``differences`` are
    further evaluations, whose gradients are differences of values.
    """

    def __init__(
        self, coordinates: Coordinates, given: Iterable[Evaluation], forward_posterior: ForwardPosterior | None
    ) -> None:
        self._coordinates = coordinates
        self._parameters: dict[bytes, Array] = {}
        self.by_point: dict[bytes, Evaluation] = {}
        self.differences: list[Evaluation] = []
        self.floor = Floor(outputs=forward_posterior is not None)
        for found in within(given, coordinates.transform):
            with np.errstate(over="ignore", invalid="ignore"):
                point = coordinates.coordinates(found.point)
            if (np.abs(point) < FARTHEST).all():
                self.add(found if forward_posterior is None else forward_posterior.read(found, found.point), point)

    def add(self, found: Evaluation, point: Array) -> Evaluation:
        """Keep an evaluation in the user's coordinates, and return it at ``point``."""
        here, key = usable(_translated(found, point, self._coordinates)), point.tobytes()
        self.floor.see(here)
        if key not in self.by_point or self.by_point[key].gradient is None:
            self.by_point[key], self._parameters[key] = here, found.point
        return here

    def parameters(self, points: Array, *, gradient: bool) -> Array:
        """The points, rows of (n, d), in the user's coordinates; those of known points exactly."""

        def at(point: Array) -> Array:
            known = self.by_point.get(key := point.tobytes())
            complete = known is not None and (known.complete or not gradient)
            return self._parameters[key] if complete else self._coordinates.parameters(point)

        return np.array([at(point) for point in points]).reshape(points.shape)


def _translated(found: Evaluation, point: Array, coordinates: Coordinates) -> Evaluation:
    """An evaluation in the user's coordinates, at the ``point`` of others."""
    if not math.isfinite(found.value):
        return replace(found, point=point, gradient=None)
    value = found.value - coordinates.log_jacobian(point)
    gradient = None if found.gradient is None else -coordinates.pulled_back(-found.gradient, point)
    return replace(found, point=point, value=value, gradient=gradient)
