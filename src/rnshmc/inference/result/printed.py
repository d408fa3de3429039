"""A result in words and tables."""

import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.moments import Drawn, finite_columns, moments, quantiles
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.verdict import Verdict
from rnshmc.inference.transforms import Transform

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 30
"""Maximum number of parameters in the printed table."""
MOST_DIGITS = 15
"""Digits after the point of a double in scientific notation that decimal numbers determine."""


def table(names: Sequence[str], units: Sequence[str], mean: Estimate, sd: Estimate) -> list[str]:
    """A row for each parameter."""
    rows = [("", "mean", "+-", "sd", "+-", "")]
    columns = (mean.value, mean.standard_error, sd.value, sd.standard_error)
    for name, unit, *numbers in zip(names, units, *columns, strict=True):
        rows.append((name, *with_error(*numbers[:2]), *with_error(*numbers[2:]), unit))
    kept = rows[: MOST_ROWS + 1]
    widths = [max(len(row[column]) for row in kept) for column in range(6)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5)), row[5]]).rstrip()
        for row in kept
    ]
    return lines if len(rows) == len(kept) else [*lines, f"... and {len(rows) - len(kept)} more"]


def with_error(value: float, error: float) -> tuple[str, str]:
    """A number and its standard error, to the error's second significant digit; empty where NaN."""
    if not (math.isfinite(value) and 0 < error < math.inf):
        plain = ("" if math.isnan(number) else f"{number:.3g}" for number in (value, error))
        return next(plain), next(plain)
    last = math.floor(math.log10(error)) - 1
    first = math.floor(math.log10(max(abs(value), error)))
    if -5 <= first < 6:
        return f"{value:.{max(-last, 0)}f}", f"{error:.{max(-last, 0)}f}"
    return f"{value:.{min(first - last, MOST_DIGITS)}e}", f"{error:.1e}"


def account(outcome: Outcome, names: Sequence[str], transform: Transform) -> list[str]:
    """The draws, the evaluations, and the period in which each angle is reported, in words."""
    chains, n, _ = outcome.draws.shape
    count = len(outcome.rows)
    if outcome.surrogate is None:
        lines = [f"{count} draws from {chains} exact chains ({outcome.method})"]
    else:
        how = "corrected" if outcome.corrected else "weighted and repeated"
        lines = [f"{count} draws from the surrogate, {how}"]
        lines.append(f"{chains * n} draws from {chains} exact Metropolis chains (surrogate proposals)")
    lines.append(f"evaluated {outcome.spent}")
    if math.isfinite(outcome.log_evidence.standard_error):
        value, error = with_error(float(outcome.log_evidence.value), float(outcome.log_evidence.standard_error))
        lines.append(f"log evidence {value} +- {error} (log of the integral of the density as given)")
    if (angles := transform.angles) is not None:
        where = "half a period to each side of its most probable mode"
        ends = ((names[k], angles.low[k], angles.high[k]) for k in angles.columns)
        lines += [f"{name} is an angle, reported from {low:.4g} to {high:.4g}: {where}" for name, low, high in ends]
    return lines


def attributes(outcome: Outcome, verdict: Verdict, **estimates: Estimate) -> dict[str, Any]:
    """Attributes of draws and tables: how they were made, what was spent, the verdict, and estimates by name."""
    known: dict[str, Any] = {
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
    for name, one in estimates.items():
        known |= {name: one.value, f"{name}_standard_error": one.standard_error}
    return known


def summary_table(
    labels: Sequence[str],
    drawn: Drawn,
    probabilities: Sequence[float],
    attributes: Mapping[str, Any],
) -> "pd.DataFrame":
    """A row for each column: mean, sd, quantiles, their standard errors, and the effective sample size of the mean.

    Columns that are not finite everywhere have rows of NaN. ``attributes`` become ``attrs`` of the table.
    """
    # Imported here, for it takes half a second.
    import pandas as pd

    finite = finite_columns(drawn)
    kept = drawn if finite.all() else drawn.moved(lambda y: y[:, finite])
    mean, sd = moments(kept)
    found = quantiles(kept, probabilities)
    estimates = {"mean": mean, "sd": sd}
    for p, value, error in zip(probabilities, found.value, found.standard_error, strict=True):
        estimates[f"{100 * p:g}%"] = Estimate(value, error)
    values = {label: one.value for label, one in estimates.items()}
    errors = {f"mcse_{label}": one.standard_error for label, one in estimates.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        ess = (sd.value / errors["mcse_mean"]) ** 2
    rows = [label for label, whole in zip(labels, finite, strict=True) if whole]
    table = pd.DataFrame(values | errors | {"ess_mean": ess}, index=rows).reindex(list(labels))
    table.attrs.update(attributes)
    return table
