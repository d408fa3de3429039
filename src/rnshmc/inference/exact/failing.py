"""Whether a target fails at some points, as where it is not defined, or for good, as when a disk is full."""

from collections.abc import Callable, Sequence

import numpy as np

from rnshmc.errors import BudgetSpent, EvaluationError
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.types import Array

TRIES = 3
"""Stored points that are evaluated anew before a target that fails at each of them is taken to fail."""
IN_A_ROW = 20
"""Failures in a row after which a point that worked is evaluated again. A target that fails at random at half of all
points has as many in a row once in a million evaluations; one that is not defined in a region pays one more in 20."""


def lost(found: Evaluation) -> bool:
    """Whether an evaluation returned nothing."""
    return found.failed or (found.run is not None and not np.isfinite(found.run.outputs).any())


def mended(failures: Sequence[Evaluation], again: Callable[[Evaluation], Evaluation]) -> bool:
    """Whether one of the last `TRIES` failures works now; False if the budget does not suffice to find out."""
    try:
        return any(not lost(again(one)) for one in failures[: -TRIES - 1 : -1])
    except BudgetSpent:
        return False


class FailureWatch:
    """Counts failures in a row, and keeps the latest point at which the target worked."""

    def __init__(self) -> None:
        self._worked: Array | None = None
        self._in_a_row = 0

    def note(self, found: Evaluation, x: Array) -> None:
        """Count an evaluation at ``x``."""
        if lost(found):
            self._in_a_row += 1
        else:
            self._in_a_row, self._worked = 0, x

    def due(self) -> Array | None:
        """The point that worked, once after each `IN_A_ROW` failures; None if there is none, or too few failures."""
        if self._in_a_row < IN_A_ROW:
            return None
        self._in_a_row = 0
        return self._worked

    def check(self, again: Evaluation, kept: str) -> None:
        """Compare with the point that worked; ``kept`` says where evaluations are.

        Raises
        ------
        EvaluationError
            If it fails now.
        """
        if lost(again):
            why = again.failure or "no output is finite"
            raise EvaluationError(
                f"the target fails for good: {IN_A_ROW} evaluations in a row did, and so did one at a point where it "
                f"had worked ({why}); mend it and call again{kept}"
            )
