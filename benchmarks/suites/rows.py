"""Rows of a suite's table: all runs on one posterior, ours against the others."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers.judge import Verdict, judge
from peers.measures import Moments
from peers.wording import median

OURS = "rnshmc"
LOST = 1.2
"""Ours counts as lost above so many times the units of what it is compared with."""


@dataclass(frozen=True)
class Row:
    """All runs on one posterior."""

    name: str
    dim: int
    runs: dict[str, list[Verdict]]
    """By sampler, then seed."""
    right: int
    """Of our results: how many have the errors that they claim, whatever level they have."""
    rivals: tuple[str, ...]
    """The samplers that the ratio is of: the best of them counts."""

    def units(self, sampler: str) -> float:
        """Median units until the goal; infinite where the sampler was not run."""
        runs = self.runs[sampler]
        return median(runs, "units_goal") if runs else np.inf

    @property
    def ratio(self) -> float:
        """Units of the best rival over ours; NaN where neither reached the goal."""
        ours, other = self.units(OURS), min(self.units(rival) for rival in self.rivals)
        return np.nan if np.isinf(ours) and np.isinf(other) else 0.0 if np.isinf(ours) else other / ours

    @property
    def lost(self) -> bool:
        """Whether ours takes more than `LOST` times the units of the best rival, or alone does not reach the goal."""
        return bool(self.ratio * LOST < 1.0)

    @property
    def good(self) -> list[Verdict]:
        """Of our results, those that are called good."""
        return [run for run in self.runs[OURS] if run.says_good]


def read_runs(results: Path) -> dict[str, list[dict[str, Any]]]:
    """What the runs below ``results`` left, by posterior."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(results.glob("*/*/*.json")):
        run = json.loads(path.read_text())
        found.setdefault(run["problem"], []).append(run)
    return found


def make_row(
    runs: Sequence[dict[str, Any]],
    reference: tuple[Moments, tuple[float, float]],
    others: Sequence[str],
    rivals: Sequence[str],
) -> Row:
    """The row of a posterior.

    Parameters
    ----------
    runs
        What its runs left.
    reference
        Moments, and the independent draws that their own errors are worth, for means and for variances.
    others, rivals
        Samplers beside ours, and which of these the ratio is of.
    """
    verdicts = [judge(run, *reference) for run in runs]
    by_sampler = {sampler: [v for v in verdicts if v.peer == sampler] for sampler in (OURS, *others)}
    ours = [run for run in runs if run["peer"] == OURS and run["outcome"]]
    right = sum(judge(_called_good(run), *reference).honest for run in ours)
    return Row(runs[0]["problem"], runs[0]["dim"], by_sampler, right, tuple(rivals))


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Those with the largest gain first."""
    return sorted(rows, key=lambda row: (np.isnan(row.ratio), -row.ratio))


def _called_good(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "outcome": {**run["outcome"], "says_good": True}}


def times(ratio: float, rival: str) -> str:
    """A ratio as the table has it."""
    if np.isnan(ratio):
        return "-"
    if ratio == 0:
        return "ours not reached"
    return f"{rival} not reached" if np.isinf(ratio) else f"{ratio:.3g}"


def units_of(rows: Sequence[Row]) -> dict[str, dict[str, list[float]]]:
    """Units until the goal by posterior and sampler, for `suites.figure.draw`."""
    return {row.name: {name: [run.units_goal for run in runs] for name, runs in row.runs.items()} for row in rows}
