"""One exact evaluation, its cost, and the expenses of a run."""

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace
from typing import Protocol

import numpy as np

from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

FARTHEST = 1e100
"""Largest coordinate of a point: squares and products of two are finite below."""


@dataclass(frozen=True, eq=False)
class Run:
    """The m outputs of one run of a forward model, with their derivatives by its p inputs where requested."""

    outputs: Array
    jacobian: Array | None = None
    """Shape (m, p)."""
    along: Array | None = None
    """A vector v, (m,), for which the product J'v was requested."""
    pulled: Array | None = None
    """The product J'v, (p,)."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Value and gradient of the potential U = -log density at a point, in the coordinates of that point.

    Values are potentials everywhere; users and files have log densities, which are converted in `density`,
    `stored_evaluations` and `lines`.
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
    """The run of the forward model; None where the target is a density, or the run failed."""

    @property
    def failed(self) -> bool:
        """Whether the value could not be evaluated."""
        return self.failure is not None and not math.isfinite(self.value)

    @property
    def differentiated(self) -> bool:
        """Whether a derivative was computed."""
        run = self.run
        return self.gradient is not None or (run is not None and (run.jacobian is not None or run.pulled is not None))

    @property
    def complete(self) -> bool:
        """Whether requesting the gradient here would add nothing."""
        return self.with_gradient or self.failure is not None or not math.isfinite(self.value)

    def without_gradient(self) -> "Evaluation":
        """The value alone, or the outputs."""
        return replace(self, gradient=None, with_gradient=False, run=self.run and Run(self.run.outputs))


@dataclass
class Cost:
    """Calls of the user's functions in one evaluation, counted as they are made."""

    values: int = 1
    gradients: int = 0
    always_both: bool = False
    """Whether a value alone costs as much as a value with its gradient."""


@dataclass(frozen=True)
class Spent:
    """Exact evaluations made by a run."""

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


@dataclass(frozen=True)
class Progress:
    """Stage of a run, evaluations so far, sd(U - V), NaN until known, and the units expected after the stage."""

    stage: str
    spent: Spent
    surrogate_error: float
    expected_units: int | None


@dataclass(eq=False)
class Journal:
    """Expenses and measurements of a run; it only grows."""

    by_stage: dict[str, Spent] = field(default_factory=dict)
    training_errors: list[tuple[int, float]] = field(default_factory=list)
    """Units spent so far and sd(U - V), of each batch of draws of a surrogate."""
    noise: list[tuple[float, float]] = field(default_factory=list)
    """Standard deviations of the noise of values, each with the lowest potential for which it counts."""
    expected_units: int | None = None
    """Units expected after the current stage."""

    @property
    def surrogate_error(self) -> float:
        """sd(U - V) at the latest draws of a surrogate; NaN before any."""
        return self.training_errors[-1][1] if self.training_errors else math.nan


@dataclass(frozen=True, eq=False)
class Task:
    """A point to evaluate, in the user's coordinates: parameters ``x``, shape (d,)."""

    number: int
    x: Array
    gradient: bool


Answer = tuple[Evaluation, Cost]
"""A worker's answer to a task."""


class Evaluable(Protocol):
    """A model sent to workers."""

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """The evaluation at ``x``, in the user's coordinates, with a gradient if requested and there is one."""
        ...


def failed(point: Array, failure: str, *, gradient: bool) -> Answer:
    """An evaluation that returned nothing; its cost is that of the request."""
    return Evaluation(point, math.inf, None, failure, gradient), Cost(gradients=int(gradient))


def usable(found: Evaluation) -> Evaluation:
    """The evaluation; a failed one if its value or gradient is not finite."""
    if math.isnan(found.value) or found.value == -math.inf:
        return replace(found, value=math.inf, gradient=None, failure=found.failure or f"the potential is {found.value}")
    if found.gradient is not None and not np.isfinite(found.gradient).all():
        return replace(found, value=math.inf, gradient=None, failure=found.failure or "the gradient is not finite")
    return found


def within(given: Iterable[Evaluation], transform: Transform) -> list[Evaluation]:
    """The evaluations strictly inside the bounds; the point of a run has only the first parameters, the model's."""
    low, high = transform.low, transform.high
    sides = ((one, len(one.point)) for one in given)
    return [one for one, n in sides if ((low[:n] < one.point) & (one.point < high[:n])).all()]
