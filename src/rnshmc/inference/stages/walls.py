"""Undeclared bounds of a parameter, beyond which the density is zero: walls."""

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning_shared import reach_of
from rnshmc.inference.tuning_start import Search
from rnshmc.types import Array

STAGE = "walls"
HALVINGS = math.ceil(-math.log2(Search.first))
"""Values that locate a wall to `Search.first` of the distance from the lowest point to zero density."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wall:
    """A value of one unconstrained coordinate between a point of positive density and one of zero density.

    ``inside`` and ``outside`` are values of it on both sides, close to each other.
    """

    coordinate: int
    inside: float
    outside: float


def find_wall(archive: Archive, mode: Mode) -> Wall | None:
    """A wall near the mode, from known points of zero density and a few more values; None if there is none.

    A wall is a bound of one coordinate: the density is zero where that coordinate alone is moved beyond it, at the
    lowest point and at one far from it.
    """
    finite = archive.training()
    best = finite.points[np.argmin(finite.values)]
    angles = archive.coordinates.transform.angles
    for coordinate, outside in _candidates(finite.points, _nearby(archive, mode), best):
        # A circle has no ends; where a part of it has no density there is an edge.
        if angles is not None and coordinate in angles.columns:
            continue
        if not _density(archive, best, coordinate, outside):
            wall = _bisected(archive, best, coordinate, outside)
            if _holds(archive, wall, finite.points, best):
                return wall
    return None


def take_up(wall: Wall, transform: Transform, names: Sequence[str]) -> tuple[Transform, str]:
    """The transform with the wall as a bound, and a sentence about it for the log and for the verdict."""
    sides = (np.where(np.arange(transform.dim) == wall.coordinate, side, 0.0) for side in (wall.inside, wall.outside))
    inside, outside = (float(transform.parameters(side)[wall.coordinate]) for side in sides)
    bounded, bound = transform.with_bound(wall.coordinate, inside, outside)
    name, low, high = names[wall.coordinate], bounded.low[wall.coordinate], bounded.high[wall.coordinate]
    pair = ", ".join("None" if np.isinf(limit) else f"{limit:g}" for limit in (low, high))
    doubt = (
        f"The density is 0 where {name} {'<' if outside < inside else '>'} {bound:g}: this bound was located by a few "
        f"values. If it is right, declare bounds={{{name!r}: ({pair})}}."
    )
    _log.warning("%s", doubt)
    return bounded, doubt


def _nearby(archive: Archive, mode: Mode) -> Array:
    """Points of zero density near enough to the mode to matter; all if the descent has not converged."""
    zeros = archive.zeros()
    if not mode.converged or not len(zeros):
        return zeros
    lengths = np.linalg.norm(mode.whitening.whiten(zeros), axis=1)
    return np.asarray(zeros[lengths < reach_of(archive.dim)])


def _candidates(finite: Array, zeros: Array, best: Array) -> Iterator[tuple[int, float]]:
    """Coordinates with the nearest value beyond which no point is finite, those that explain most zeros first."""
    columns = enumerate(zip(finite.T, zeros.T, best, strict=True))
    sides = [(i, z[side], at) for i, (x, z, at) in columns for side in (z < x.min(), z > x.max())]
    for coordinate, beyond, at in sorted(sides, key=lambda side: -len(side[1])):
        if len(beyond):
            yield coordinate, float(beyond[np.argmin(np.abs(beyond - at))])


def _bisected(archive: Archive, best: Array, coordinate: int, outside: float) -> Wall:
    inside = float(best[coordinate])
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        if _density(archive, best, coordinate, middle):
            inside = middle
        else:
            outside = middle
    return Wall(coordinate, inside, outside)


def _holds(archive: Archive, wall: Wall, finite: Array, best: Array) -> bool:
    """Whether the wall has the same position at a point far from the lowest one."""
    lengths = np.linalg.norm(np.delete(finite - best, wall.coordinate, axis=1), axis=1)
    if not lengths.any():
        return True
    far = finite[np.argmax(lengths)]
    width = 2.0 * (wall.inside - wall.outside)
    beyond = _density(archive, far, wall.coordinate, wall.outside - width)
    return not beyond and _density(archive, far, wall.coordinate, wall.inside + width)


def _density(archive: Archive, point: Array, coordinate: int, value: float) -> bool:
    """Whether the density is positive where one coordinate of a point is replaced."""
    moved = np.where(np.arange(len(point)) == coordinate, value, point)
    (found,) = archive.evaluate(moved[None], STAGE, gradient=False)
    return bool(np.isfinite(found.value))
