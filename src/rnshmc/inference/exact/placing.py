"""Evaluations in unbounded coordinates, by their points."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rnshmc.inference.exact.evaluation import FARTHEST, Evaluation, usable, within
from rnshmc.inference.exact.floor import Floor
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.warp import Coordinates
from rnshmc.types import Array


class Placed:
    """Evaluations in some coordinates, one for each point, preferably with a gradient.

    Parameters
    ----------
    coordinates
        Those of the points.
    given
        Evaluations in the user's coordinates. Those outside the bounds are left out, and those that a bend moves too
        far.
    forward_posterior
        How the potential is read off runs of a forward model; None for a density.

    Attributes
    ----------
    by_point
        The evaluations.
    differences
        Evaluations with gradients computed from differences of values.
    floor
        Height of potentials that stand for a density of zero.
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
        """Keep an evaluation in the user's coordinates, and return it as one at ``point``."""
        here, key = usable(_translated(found, point, self._coordinates)), point.tobytes()
        self.floor.see(here)
        if key not in self.by_point or self.by_point[key].gradient is None:
            self.by_point[key], self._parameters[key] = here, found.point
        return here

    def parameters(self, points: Array, *, gradient: bool) -> Array:
        """The points, rows of (n, d), in the user's coordinates; where one is known, exactly there."""

        def at(point: Array) -> Array:
            known = self.by_point.get(key := point.tobytes())
            complete = known is not None and (known.complete or not gradient)
            return self._parameters[key] if complete else self._coordinates.parameters(point)

        return np.array([at(point) for point in points]).reshape(points.shape)


def _translated(found: Evaluation, point: Array, coordinates: Coordinates) -> Evaluation:
    """An evaluation in the user's coordinates as one in others, at ``point``."""
    if not math.isfinite(found.value):
        return replace(found, point=point, gradient=None)
    value = found.value - coordinates.log_jacobian(point)
    gradient = None if found.gradient is None else -coordinates.pulled_back(-found.gradient, point)
    return replace(found, point=point, value=value, gradient=gradient)
