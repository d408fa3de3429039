"""Whether a target is that of a file of evaluations, and whether it fails for good.

A stored point is evaluated anew and compared; so is a point that worked, after many failures in a row.
"""

import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rnshmc.errors import BudgetSpent, EvaluationError, StoreError
from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.types import Array

_log = logging.getLogger(__name__)

VALUE_RTOL = 1e-6
"""Relative difference of two log densities of one target: single precision and iterative solvers stay below it."""
SPREAD_RTOL = 1e-3
"""Their maximum difference relative to the spread of the stored ones, where a constant dominates that spread."""
GRADIENT_RTOL = 1e-4
"""Difference of two derivatives of one target, relative to stored derivatives by the same parameter."""
MOST_SHOWN = 6
"""Parameters of a point that a message shows."""
MOST_COMPARED = 50
"""Stored runs, evenly spaced, whose spread sets the scale of each output."""
ROUNDING = 1e-10
"""Error of a derivative that should be zero, relative to the largest derivative at the point."""
NEW_POINTS = 8
"""New evaluations after which a warning is logged if a run has hardly used its file."""
TRIES = 3
"""Stored points evaluated anew before a target that fails at each of them is considered to fail."""
IN_A_ROW = 20
"""Failures in a row after which a point that worked is evaluated again. A target that fails at random at half of all
points has as many in a row once in a million evaluations; one that is undefined in a region costs one more in 20."""


def confirm(
    stored: Sequence[Evaluation],
    again: Callable[[Evaluation], Evaluation],
    evaluation_log: EvaluationLog,
    *,
    gradient: bool,
) -> bool:
    """Evaluate a stored point ``again``, or others where the target fails there, and compare.

    Returns whether a point was evaluated: none is if the target's digest is that of the file, or all stored evaluations
    failed. Raises `StoreError` with the file, the point and both numbers if they differ.
    """
    working = [one for one in stored if not lost(one)]
    chosen = [] if evaluation_log.trusted else candidates(working, gradient=gradient)
    for before in chosen:
        anew = again(before)
        found = difference(before, anew, working, evaluation_log.names)
        if found is None:
            return True
        if not anew.failed or before is chosen[-1]:
            raise StoreError(_refusal(evaluation_log.path, before.point, evaluation_log.names, found))
    return False


def hint_at_reuse(path: Path, replayed: Sequence[bool]) -> None:
    """Warn if a run that evaluates new points has requested less than half of those in the file.

    A resumed run requests all of them before it evaluates more than the one that confirms the file.
    """
    if 2 * sum(replayed) < len(replayed):
        _log.warning(
            "filepath: %s holds %d evaluations, of which this run requested %d: with other data, x0, seed or settings "
            "a run takes another path. To use all of them, pass evaluations=%r",
            path,
            len(replayed),
            sum(replayed),
            str(path),
        )


def candidates(stored: Sequence[Evaluation], *, gradient: bool) -> list[Evaluation]:
    """The stored points to evaluate anew: the last ones, which lie in the bulk of the posterior.

    Points with a finite value come first, among them those with a gradient if gradients are used.
    """

    def informative(index: int) -> tuple[bool, bool, bool, int]:
        one = stored[index]
        return math.isfinite(one.value), gradient and one.gradient is not None, gradient and one.with_gradient, index

    return [stored[i] for i in sorted(range(len(stored)), key=informative, reverse=True)[:TRIES]]


def difference(before: Evaluation, anew: Evaluation, stored: Sequence[Evaluation], names: Sequence[str]) -> str | None:
    """The difference of the stored and the new evaluation at one point, in words; None if they agree.

    The spread of all ``stored`` evaluations sets the scale of the comparison.
    """
    if before.run is not None and anew.run is not None:
        return _between(before.run, anew.run, stored)
    if not (math.isfinite(before.value) and math.isfinite(anew.value)):
        same = before.failed == anew.failed and before.value == anew.value
        return None if same else f"{_described(before)} in the file, and {_described(anew)} now"
    if abs(before.value - anew.value) > _allowed_value(before, stored):
        return f"{_described(before)} in the file, and {-anew.value:.14g} now"
    if before.gradient is None or anew.gradient is None:
        return None
    excess = np.abs(before.gradient - anew.gradient) - _allowed_slopes(before.gradient, stored)
    if not (excess > 0).any():
        return None
    i = int(np.argmax(excess > 0))
    return (
        f"the derivative of the log density by {names[i]} is {-before.gradient[i]:.14g} in the file, and "
        f"{-anew.gradient[i]:.14g} now"
    )


def _between(before: Run, anew: Run, stored: Sequence[Evaluation]) -> str | None:
    """The difference of the outputs of two runs."""
    if before.outputs.shape != anew.outputs.shape:
        return f"a run has {len(before.outputs)} outputs in the file, and {len(anew.outputs)} now"
    if (missing := np.isnan(before.outputs) != np.isnan(anew.outputs)).any():
        return _outputs_differ(before, anew, int(np.argmax(missing)))
    alike = [one.run.outputs for one in stored if one.run and one.run.outputs.shape == before.outputs.shape]
    others = np.array(alike[:: -(-len(alike) // MOST_COMPARED)])
    spread = np.nanmedian(np.abs(others - before.outputs), axis=0)
    apart = np.abs(before.outputs - anew.outputs)
    allowed = VALUE_RTOL * np.maximum(np.abs(before.outputs), spread)
    if len(others) > 1:  # one alone has no spread
        allowed = np.minimum(allowed, SPREAD_RTOL * np.maximum(spread, 0.0))
    excess = apart - np.maximum(allowed, ROUNDING * np.abs(before.outputs))
    if not (excess > 0).any():
        return None
    return _outputs_differ(before, anew, int(np.nanargmax(excess / np.maximum(spread, np.finfo(float).tiny))))


def _outputs_differ(before: Run, anew: Run, i: int) -> str:
    return f"output {i} of the model is {before.outputs[i]:.14g} in the file, and {anew.outputs[i]:.14g} now"


def _refusal(path: Path, x: Array, names: Sequence[str], found: str) -> str:
    shown = [f"{name} = {value:.6g}" for name, value in zip(names, x, strict=True)]
    point = ", ".join(shown[:MOST_SHOWN]) + (", ..." if len(shown) > MOST_SHOWN else "")
    return (
        f"filepath: {path} holds evaluations of another target: at {point} {found}. Name another file, or remove this "
        "one to start again. A noisy log density gives another number each time; to use its evaluations, pass this "
        "file as evaluations= and name another as filepath="
    )


def _described(found: Evaluation) -> str:
    return f"the evaluation failed ({found.failure})" if found.failed else f"the log density is {-found.value:.14g}"


def _allowed_value(before: Evaluation, stored: Sequence[Evaluation]) -> float:
    values = np.array([one.value for one in stored if math.isfinite(one.value)])
    spread = float(np.median(np.abs(values - before.value)))
    return min(VALUE_RTOL * max(1.0, abs(before.value)), SPREAD_RTOL * max(1.0, spread))


def _allowed_slopes(gradient: Array, stored: Sequence[Evaluation]) -> Array:
    slopes = np.abs([one.gradient for one in stored if one.gradient is not None])
    scale = np.maximum(np.abs(gradient), np.median(slopes, axis=0))
    allowed: Array = GRADIENT_RTOL * scale + ROUNDING * max(1.0, float(np.abs(gradient).max()))
    return allowed


def lost(found: Evaluation) -> bool:
    """Whether an evaluation returned nothing."""
    return found.failed or (found.run is not None and not np.isfinite(found.run.outputs).any())


def mended(failures: Sequence[Evaluation], again: Callable[[Evaluation], Evaluation]) -> bool:
    """Whether one of the last `TRIES` failures works now; False if the budget is too small to try."""
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
        """Raise `EvaluationError` if the point that worked fails now; ``kept`` ends the message."""
        if lost(again):
            why = again.failure or "no output is finite"
            raise EvaluationError(
                f"the target fails for good: {IN_A_ROW} evaluations in a row failed, as did one at a point where it "
                f"had worked ({why}); repair it and call again{kept}"
            )
