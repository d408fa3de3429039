"""Exact evaluations: what the algorithm asks for, and what it is told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rnshmc.errors import BudgetSpent, NumericalError
from rnshmc.types import Array, Potential


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation of the exact potential.

    Attributes
    ----------
    point
        Unconstrained coordinates, shape (d,).
    value
        U = -log density up to a constant; inf where it failed or the density is 0.
    gradient
        Shape (d,); None if not asked for, unavailable or failed.
    failure
        Why it failed; None otherwise. An infinite value without a failure is a density of zero.
    """

    point: Array
    value: float
    gradient: Array | None
    failure: str | None


@dataclass(frozen=True)
class Spent:
    """How many evaluations were paid for."""

    values: int
    gradients: int
    failed: int

    @property
    def units(self) -> int:
        """A value is one unit, a gradient one more."""
        return self.values + self.gradients


class Evaluations(Protocol):
    """The exact potential, wherever and however it is evaluated."""

    @property
    def dim(self) -> int:
        """Dimension of the unconstrained space."""
        ...

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be asked for."""
        ...

    @property
    def known(self) -> Sequence[Evaluation]:
        """What was evaluated before this run."""
        ...

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        ...

    def evaluate(self, points: Array, *, gradient: bool = True) -> Iterator[Evaluation]:
        """Evaluate the rows of ``points``, yielding each as it arrives, in any order.

        Raises
        ------
        BudgetSpent
            If the next evaluation would exceed the budget.
        """
        ...


class InProcess:
    """Evaluations of a potential in this process, one after another.

    Parameters
    ----------
    potential
        The exact potential. `NumericalError` is a failed evaluation.
    has_gradient
        Whether to use its gradient.
    budget
        Units that may be spent; None for no limit.
    """

    def __init__(self, potential: Potential, *, has_gradient: bool = True, budget: int | None = None) -> None:
        self._potential = potential
        self._budget = budget
        self.has_gradient = has_gradient
        self.known: tuple[Evaluation, ...] = ()
        self.spent = Spent(0, 0, 0)

    @property
    def dim(self) -> int:
        """Dimension of the potential."""
        return self._potential.dim

    def evaluate(self, points: Array, *, gradient: bool = True) -> Iterator[Evaluation]:
        """Evaluate the rows of ``points`` in order."""
        with_gradient = gradient and self.has_gradient
        for point in points:
            if self._budget is not None and self.spent.units + 1 + with_gradient > self._budget:
                raise BudgetSpent(f"the budget of {self._budget} evaluations is spent")
            found = self._evaluate(point, with_gradient)
            spent = self.spent
            self.spent = Spent(
                spent.values + 1, spent.gradients + with_gradient, spent.failed + (found.failure is not None)
            )
            yield found

    def _evaluate(self, point: Array, with_gradient: bool) -> Evaluation:
        try:
            if with_gradient:
                value, slope = self._potential.value_and_grad(point)
            else:
                value, slope = self._potential.value(point), None
        except NumericalError as error:
            return Evaluation(point.copy(), np.inf, None, str(error))
        if np.isfinite(value):
            return Evaluation(point.copy(), float(value), slope, None)
        return Evaluation(point.copy(), np.inf, None, None if value == np.inf else f"the potential is {value}")
