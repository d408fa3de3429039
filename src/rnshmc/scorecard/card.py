"""Every printed number compared with ours, with a verdict by a stated rule (`rnshmc.scorecard.rules`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

import pandas as pd

from rnshmc.results.estimates import Estimate
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.lengths import Shorter, reason_not_to_judge
from rnshmc.scorecard.measured import Measured, Tables
from rnshmc.scorecard.measures.registry import check, measured
from rnshmc.scorecard.noise import errors
from rnshmc.scorecard.published import Key, Published, by_key
from rnshmc.scorecard.reasons import Reason, reason_for
from rnshmc.scorecard.rules import Verdict

SCORECARD_COLUMNS = ("paper", "item", "quantity", "printed", "ours", "ours_se", "ratio", "verdict", "note")

NOT_RUN = "not run"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Pair:
    """A published number and ours, both relative to a baseline if `relative_to` names one."""

    number: Published
    printed: float
    measured: Measured | None
    remark: str


def scorecard(
    tables: Tables, numbers: Sequence[Published], reasons: Sequence[Reason], parts: Shorter = MappingProxyType({})
) -> pd.DataFrame:
    """The scorecard of a run, in the order of the published numbers: columns `SCORECARD_COLUMNS`.

    `printed` is NaN for a statement in words. `ours_se` is the Monte Carlo standard error over chains or repeats (of
    seconds, over blocks); effective sample sizes are scaled to the kept draws of the paper; `ratio` is ours over the
    paper's, NaN where there is none. An item and problem for which the run measured nothing has no rows.

    A number is not judged if it is based on other data than the paper's or on shorter chains or smaller surrogates, or
    if its error leaves the verdict open; the note says which.

    Parameters
    ----------
    tables
        The tables of a run by the names of their files: results, results_se, fig1, .... A missing table was not run.
    numbers
        From `rnshmc.scorecard.published.read_published`.
    reasons
        From `rnshmc.scorecard.reasons.read_reasons`: why a number differs.
    parts
        What of the run is shorter than in the papers (`rnshmc.scorecard.lengths.shorter`).

    Raises
    ------
    DataError
        If a number has a measure that does not exist, or arguments that it does not take.
    StoreError
        If a table of the run lacks a column.
    """
    for number in numbers:
        check(number)
    published = by_key(numbers)
    pairs = _in_sections_that_ran([_pair(tables, published, number) for number in numbers])
    return pd.DataFrame([_row(pair, reasons, parts) for pair in pairs], columns=list(SCORECARD_COLUMNS))


def verdict_counts(card: pd.DataFrame) -> dict[str, int]:
    """Counts of numbers by verdict, and of those that differ without a reason, which are part of those that differ."""
    verdicts = card["verdict"]
    return {
        **{name: int((verdicts == name).sum()) for name in get_args(Verdict)},
        UNEXPLAINED: sum(str(note).startswith(UNEXPLAINED) for note in card["note"]),
    }


def _in_sections_that_ran(pairs: Sequence[Pair]) -> list[Pair]:
    def section(pair: Pair) -> tuple[str, str, str]:
        return pair.number.paper, pair.number.item, pair.number.problem

    ran = {section(pair) for pair in pairs if pair.measured is not None}
    return [pair for pair in pairs if section(pair) in ran]


def _pair(tables: Tables, published: Mapping[Key, Published], number: Published) -> Pair:
    ours = measured(tables, number)
    if not number.relative_to:
        return Pair(number, number.printed, ours, "")
    base = published[replace(number, sampler=number.relative_to).key]
    theirs = measured(tables, base)
    return Pair(
        number,
        number.printed / base.printed,
        None if ours is None or theirs is None else ours.per(theirs),
        f"relative to {sampler_label(base.sampler)}, printed {number.printed:g} over {base.printed:g}",
    )


def _row(pair: Pair, reasons: Sequence[Reason], parts: Shorter) -> dict[str, Any]:
    number, result = pair.number, pair.measured
    row = {"paper": number.paper, "item": number.label, "quantity": number.quantity, "printed": pair.printed}
    if result is None:
        nothing = dict.fromkeys(("ours", "ours_se", "ratio"), math.nan)
        return {**row, **nothing, "verdict": "not comparable", "note": _note(NOT_RUN, number.note, number.where)}
    ours, printed_error = errors(pair.printed, number.chains, result)
    verdict, because = _verdict(pair, ours, printed_error, parts)
    reason = (reason_for(number, pair.printed, ours.value, reasons) or UNEXPLAINED) if verdict == "differs" else ""
    return {
        **row,
        "ours": ours.value,
        "ours_se": result.estimate.error,
        "ratio": ours.value / pair.printed if pair.printed else math.nan,
        "verdict": verdict,
        "note": _note(because, reason, number.note, number.where, pair.remark, str(number.rule), f"over {result.over}"),
    }


def _verdict(pair: Pair, ours: Estimate, printed_error: float, parts: Shorter) -> tuple[Verdict, str]:
    """The verdict, and why there is none where there is none."""
    number, result = pair.number, pair.measured
    if number.rule.kind == "never":
        return "not comparable", ""
    if not math.isfinite(ours.value):
        return "not comparable", "not defined"
    if result is not None and result.other_data:
        return "not judged", "stand-in data, or some of the rows"
    if because := reason_not_to_judge(number, parts):
        return "not judged", f"shorter than in the papers: {because}"
    verdict = number.rule.verdict(pair.printed, ours, printed_error)
    return verdict, "the standard error leaves it open" if verdict == "not judged" else ""


def _note(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
