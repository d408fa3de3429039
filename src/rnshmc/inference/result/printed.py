"""A result in words: a row for each parameter, what was drawn and spent, and what goes with draws and tables."""

import math
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.verdict import Verdict

MOST_ROWS = 30
"""Parameters that the printed table shows."""


def table(names: Sequence[str], units: Sequence[str], mean: Estimate, sd: Estimate) -> list[str]:
    """A row for each parameter."""
    rows = [("", "mean", "+-", "sd", "+-", "")]
    columns = (mean.value, mean.standard_error, sd.value, sd.standard_error)
    for name, unit, *numbers in zip(names, units, *columns, strict=True):
        shown = ("" if math.isnan(number) else f"{number:.3g}" for number in numbers)
        rows.append((name, *shown, unit))
    kept = rows[: MOST_ROWS + 1]
    widths = [max(len(row[column]) for row in kept) for column in range(6)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5)), row[5]]).rstrip()
        for row in kept
    ]
    return lines if len(rows) == len(kept) else [*lines, f"... and {len(rows) - len(kept)} more"]


def account(outcome: Outcome) -> list[str]:
    """What was drawn and spent."""
    chains, n, _ = outcome.draws.shape
    lines = [
        f"{len(outcome.rows)} draws: {_made(outcome)}",
        f"{chains * n} exact draws in {chains} chains, by {outcome.method}",
        f"evaluated {outcome.spent}",
    ]
    value, error = float(outcome.log_evidence.value), float(outcome.log_evidence.standard_error)
    if not math.isfinite(error):
        return lines
    return [*lines, f"log evidence {value:.2f} +- {error:.2g}: of the log density as given"]


def attributes(outcome: Outcome, verdict: Verdict) -> dict[str, Any]:
    """What draws and tables carry with them: how they were made, what was spent, and the verdict."""
    return {
        "inference_library": "rnshmc",
        "inference_library_version": metadata.version("rnshmc"),
        "method": outcome.method,
        "values": outcome.spent.values,
        "gradients": outcome.spent.gradients,
        "failed": outcome.spent.failed,
        "level": verdict.level,
        "verdict": str(verdict),
        "r_hat": outcome.rhat,
        "log_evidence": float(outcome.log_evidence.value),
        "log_evidence_standard_error": float(outcome.log_evidence.standard_error),
    }


def corrected(mean: Estimate, sd: Estimate) -> dict[str, Any]:
    """Corrected moments of the parameters, which go with draws of them."""
    return {
        "mean": mean.value,
        "mean_standard_error": mean.standard_error,
        "sd": sd.value,
        "sd_standard_error": sd.standard_error,
    }


def _made(outcome: Outcome) -> str:
    """What the draws are, in words."""
    if outcome.surrogate is None:
        return "states of the chains"
    return "of the surrogate, corrected" if outcome.corrected else "exact ones, repeated"
