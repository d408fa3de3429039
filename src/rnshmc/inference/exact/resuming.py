"""Whether the evaluations in a file are of this target: a stored point is evaluated anew and compared."""

import math
from collections.abc import Sequence

import numpy as np

from rnshmc.inference.exact.ledger import Record
from rnshmc.types import Array

TRIES = 3
"""Stored points that are evaluated anew before a target that fails at each of them is refused."""
VALUE_RTOL = 1e-6
"""Relative difference of two log densities of one target: single precision and iterative solvers stay below it."""
SPREAD_RTOL = 1e-3
"""Their greatest difference relative to the spread of the stored ones, where a constant dwarfs that spread."""
GRADIENT_RTOL = 1e-4
"""Difference of two derivatives of one target, relative to stored derivatives by the same parameter."""
ROUNDING = 1e-10
"""Error of a derivative that should be zero, relative to the largest derivative at the point."""


def candidates(records: Sequence[Record], *, gradient: bool) -> list[int]:
    """Indices of the stored points to evaluate anew: the last ones, which lie where the posterior has its mass.

    Points with a finite log density come first, among them those with a gradient if gradients are used.
    """

    def says(index: int) -> tuple[bool, bool, int]:
        finite = math.isfinite(records[index].log_density)
        return finite, finite and gradient and records[index].gradient is not None, index

    return sorted(range(len(records)), key=says, reverse=True)[:TRIES]


def difference(stored: Record, anew: Record, records: Sequence[Record], names: Sequence[str]) -> str | None:
    """How an evaluation differs from the stored one at the same point, in words with both numbers; None: it agrees.

    Parameters
    ----------
    stored, anew
        The two evaluations.
    records
        All stored evaluations, whose spread sets the scale of the comparison.
    names
        Names of the parameters.
    """
    if not math.isfinite(stored.log_density) or not math.isfinite(anew.log_density):
        same = _kind(stored) == _kind(anew)
        return None if same else f"{_said(stored)} in the file, and {_said(anew)} now"
    if abs(stored.log_density - anew.log_density) > _allowed_value(stored, records):
        return f"{_said(stored)} in the file, and {anew.log_density:.14g} now"
    if stored.gradient is None or anew.gradient is None:
        return None
    excess = np.abs(stored.gradient - anew.gradient) - _allowed_slopes(stored.gradient, records)
    if not (excess > 0).any():
        return None
    i = int(np.argmax(excess > 0))
    return (
        f"the derivative of the log density by {names[i]} is {stored.gradient[i]:.14g} in the file, and "
        f"{anew.gradient[i]:.14g} now"
    )


def _kind(record: Record) -> str:
    if math.isnan(record.log_density):
        return "failed"
    return "finite" if math.isfinite(record.log_density) else "zero"


def _said(record: Record) -> str:
    if math.isnan(record.log_density):
        return f"the evaluation failed ({record.failure})"
    return f"the log density is {record.log_density:.14g}"


def _allowed_value(stored: Record, records: Sequence[Record]) -> float:
    values = np.array([record.log_density for record in records if math.isfinite(record.log_density)])
    spread = float(np.median(np.abs(values - stored.log_density)))
    return min(VALUE_RTOL * max(1.0, abs(stored.log_density)), SPREAD_RTOL * max(1.0, spread))


def _allowed_slopes(gradient: Array, records: Sequence[Record]) -> Array:
    slopes = np.abs([record.gradient for record in records if record.gradient is not None])
    scale = np.maximum(np.abs(gradient), np.median(slopes, axis=0))
    allowed: Array = GRADIENT_RTOL * scale + ROUNDING * max(1.0, float(np.abs(gradient).max()))
    return allowed
