"""Runs on PEtab problems against the references: units until the goal, verdicts, and whether these were right."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from petab_suite.moments import Reference, read
from suites.rows import OURS, Row, make_row, ordered, read_runs

OTHERS = ("adaptive_tempering", "adaptive_metropolis")
WRONG = 5.0
"""Standard errors by which no mean and no variance of a right result differs from the reference."""
NO_RESULT = "no result"


@dataclass(frozen=True)
class Said:
    """What one run of ours said of its result."""

    seed: int
    units: int
    level: str
    """The verdict's, or `NO_RESULT`."""
    says: str
    findings: tuple[str, ...]
    worst: float
    """Largest difference of a mean or variance from the reference, in standard errors; NaN without one of the two."""

    @property
    def right(self) -> bool:
        """Whether the result is right by `WRONG`; False where that cannot be told."""
        return bool(self.worst <= WRONG)


@dataclass(frozen=True)
class Problem:
    """All that is known of a problem that was run."""

    name: str
    dim: int
    reference: Reference | None
    """None where it was not made."""
    row: Row | None
    """Units of all samplers; None without a converged reference."""
    said: tuple[Said, ...]


def problems(results: Path, references: Path) -> list[Problem]:
    """The problems with runs, those with the largest gain first, those without a reference last."""
    runs = read_runs(results)
    paths = {name: references / f"{name}.json" for name in runs}
    made = [problem(runs[name], read(path) if path.exists() else None) for name, path in paths.items()]
    rows = [one.row for one in made if one.row is not None]
    places = {row.name: place for place, row in enumerate(ordered(rows))}
    return sorted(made, key=lambda one: (places.get(one.name, len(made)), one.dim, one.name))


def problem(runs: Sequence[dict[str, Any]], reference: Reference | None) -> Problem:
    """A problem from what its runs left."""
    known = reference if reference is not None and reference.converged else None
    row = make_row(runs, (known.moments, known.known), OTHERS, OTHERS) if known else None
    said = tuple(_said(run, known) for run in runs if run["peer"] == OURS)
    return Problem(runs[0]["problem"], runs[0]["dim"], reference, row, said)


def _said(run: dict[str, Any], reference: Reference | None) -> Said:
    outcome = run["outcome"]
    if outcome is None:
        return Said(run["seed"], run["units"], NO_RESULT, run["ended"], (), np.nan)
    return Said(
        run["seed"],
        run["units"],
        outcome["says"].split(",")[0],
        outcome["says"],
        tuple(outcome["findings"]),
        worst(outcome, reference) if reference else np.nan,
    )


def worst(outcome: dict[str, Any], reference: Reference) -> float:
    """The largest difference of a mean or variance from the reference, in standard errors of both together."""
    found = np.array([outcome["mean"], outcome["variance"]])
    true = np.array([reference.mean, reference.variance])
    errors = np.hypot(outcome["standard_error"], [reference.mean_error, reference.variance_error])
    return float(np.max(np.abs(found - true) / errors))
