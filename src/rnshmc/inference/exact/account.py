"""What a run may spend, what it has spent, and the reports of it."""

import math
from dataclasses import dataclass, field

from rnshmc.errors import BudgetSpent
from rnshmc.inference.exact.compression import Compression
from rnshmc.inference.exact.evaluation import Cost, Evaluation, Spent

REPORT_EVERY_S = 5.0
"""Seconds after which a batch that is not complete reports its progress."""


@dataclass(frozen=True)
class Progress:
    """Stage of a run, evaluations so far, sd(U - V), NaN until known, and the units expected after the stage."""

    stage: str
    spent: Spent
    surrogate_error: float
    expected_units: int | None


class Account:
    """Units spent, and the budget.

    Parameters
    ----------
    budget
        Units that may be spent, None for any number.
    slope_price
        Units that a gradient costs, besides the one of the value.
    """

    def __init__(self, budget: int | None, slope_price: int) -> None:
        self.budget = budget
        self.spent = Spent()
        self._slope_price = slope_price
        self._always_both = False

    def book(self, found: Evaluation, cost: Cost) -> None:
        """Count an evaluation."""
        self._always_both |= cost.always_both
        self.spent += Spent(cost.values, cost.gradients, int(found.failed), points=1)

    def price(self, gradient: bool) -> int:
        """Units that an evaluation costs; a gradient may come with every value."""
        return 1 + self._slope_price if gradient or self._always_both else 1

    def affords(self, units: int) -> bool:
        """Whether so many more may be spent."""
        return self.budget is None or self.spent.units + units <= self.budget

    def exhausted(self) -> BudgetSpent:
        """The error where they may not."""
        return BudgetSpent(
            f"budget: {self.spent.units} of {self.budget} units are spent, at {self.spent.points} points, and the "
            "next point takes more"
        )


@dataclass(eq=False)
class Journal:
    """What a run has spent in each stage, and measured on its way; it only grows.

    Attributes
    ----------
    compression
        Of very many outputs of a forward model; None where they are emulated as they are.
    training_errors
        Units spent so far and sd(U - V), of each batch of draws of a surrogate.
    noise
        Standard deviations of the noise of values, each with the potential down to which it counts.
    expected_units
        Units expected after the current stage.
    """

    compression: Compression | None = None
    by_stage: dict[str, Spent] = field(default_factory=dict)
    training_errors: list[tuple[int, float]] = field(default_factory=list)
    noise: list[tuple[float, float]] = field(default_factory=list)
    expected_units: int | None = None

    @property
    def surrogate_error(self) -> float:
        """sd(U - V) at the latest draws of a surrogate; NaN before any."""
        return self.training_errors[-1][1] if self.training_errors else math.nan

    def book(self, stage: str, spent: Spent) -> None:
        """Count what a stage spent."""
        self.by_stage[stage] = self.by_stage.get(stage, Spent()) + spent
