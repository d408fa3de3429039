"""One exact evaluation, its cost, and the cost of all that a run made."""

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Protocol

import numpy as np

from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

FARTHEST = 1e100
"""Coordinate from which on a point is left out: squares and products of two are finite below."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one run of a forward model returned.

    Attributes
    ----------
    outputs
        Shape (m,).
    jacobian
        Their derivatives, (m, p); None where it was not asked for.
    along, pulled
        A vector v, (m,), and the product J'v, (p,), that was asked for; None where none was.
    """

    outputs: Array
    jacobian: Array | None = None
    along: Array | None = None
    pulled: Array | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known of the potential U = -log density at a point, in the coordinates of that point.

    The sign is that of a potential everywhere. What users give and files hold are log densities; it changes in `model`,
    `known` and `evaluation_log`, where they come in and go out.
    """

    point: Array
    """Coordinates, shape (d,)."""
    value: float
    """U up to a constant; infinite where the density is zero or the evaluation failed."""
    gradient: Array | None = None
    """Gradient of U, shape (d,); None where it was not requested, does not exist or failed."""
    failure: str | None = None
    """Why the evaluation failed, or why its gradient did."""
    with_gradient: bool = True
    """Whether a gradient was requested."""
    run: Run | None = None
    """The run of a forward model behind it; None where the target is a density, or the run failed."""

    @property
    def failed(self) -> bool:
        """Whether the value could not be evaluated."""
        return self.failure is not None and not math.isfinite(self.value)

    @property
    def differentiated(self) -> bool:
        """Whether a derivative was paid for, and is there."""
        return self.gradient is not None or (
            self.run is not None and (self.run.jacobian is not None or self.run.pulled is not None)
        )

    @property
    def complete(self) -> bool:
        """Whether requesting the gradient here would add nothing."""
        return self.with_gradient or self.failure is not None or not math.isfinite(self.value)

    def without_gradient(self) -> "Evaluation":
        """The value alone, or the outputs."""
        run = self.run and Run(self.run.outputs)
        return replace(self, gradient=None, with_gradient=False, run=run)


@dataclass(frozen=True)
class Cost:
    """What one evaluation asked of the user's functions."""

    values: int = 1
    gradients: int = 0
    always_both: bool = False
    """Whether a value alone costs as much as a value with its gradient."""


@dataclass(frozen=True)
class Spent:
    """Exact evaluations that a run made."""

    values: int = 0
    gradients: int = 0
    failed: int = 0
    """Points at which the value could not be evaluated; their cost is in the counts above."""
    points: int = 0
    """Points evaluated; one evaluated twice is counted twice."""

    @property
    def units(self) -> int:
        """A value is one unit, a gradient one more."""
        return self.values + self.gradients

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.points} points{failed}, {self.units} units: {self.values} values, {self.gradients} gradients"


@dataclass(frozen=True, eq=False)
class Task:
    """A point to evaluate, in the user's coordinates."""

    number: int
    x: Array
    """Parameters, shape (d,)."""
    gradient: bool


Answer = tuple[Evaluation, Cost]
"""What a worker returns."""


class Evaluable(Protocol):
    """What is sent to workers."""

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """The evaluation at ``x``, in the user's coordinates, with a gradient if requested and there is one."""
        ...


def failed(point: Array, failure: str, *, gradient: bool) -> Answer:
    """An evaluation that returned nothing; it is counted as what was requested."""
    return Evaluation(point, math.inf, None, failure, gradient), Cost(gradients=int(gradient))


def usable(found: Evaluation) -> Evaluation:
    """The evaluation; a failed one if its value or gradient is not finite."""
    if math.isnan(found.value) or found.value == -math.inf:
        return replace(found, value=math.inf, gradient=None, failure=found.failure or f"the potential is {found.value}")
    if found.gradient is not None and not np.isfinite(found.gradient).all():
        return replace(found, value=math.inf, gradient=None, failure=found.failure or "the gradient is not finite")
    return found


def within(given: Iterable[Evaluation], transform: Transform) -> list[Evaluation]:
    """The evaluations strictly inside the bounds; a run has the model's parameters alone, the first ones."""
    low, high = transform.low, transform.high
    sides = ((one, len(one.point)) for one in given)
    return [one for one, n in sides if ((low[:n] < one.point) & (one.point < high[:n])).all()]
