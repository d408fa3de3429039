"""Every printed number compared with ours, with a verdict by a stated rule (`rnshmc.scorecard.rules`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from rnshmc.results.estimates import Estimate
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.measured import Measured, Tables
from rnshmc.scorecard.measures.registry import check, measured
from rnshmc.scorecard.noise import errors
from rnshmc.scorecard.published import Key, Published, by_key
from rnshmc.scorecard.reasons import Reason, reason_for
from rnshmc.scorecard.rules import APART, VERDICTS, Verdict
from rnshmc.scorecard.settings import OtherSettings, reason_not_to_judge

SCORECARD_COLUMNS = (
    *("paper", "item", "quantity", "printed", "ours", "ours_se", "ratio"),
    *("verdict", "after_search", "note"),
)
NOT_RUN = "not run"
UNEXPLAINED = "unexplained"
AFTER_SEARCH = "after a search"


@dataclass(frozen=True)
class Pair:
    """A published number and ours, both relative to a baseline if `relative_to` names one."""

    number: Published
    printed: float
    measured: Measured | None
    remark: str


def scorecard(
    tables: Tables,
    numbers: Sequence[Published],
    reasons: Sequence[Reason],
    others: OtherSettings = MappingProxyType({}),
) -> pd.DataFrame:
    """The scorecard of a run, in the order of the published numbers: columns `SCORECARD_COLUMNS`.

    `printed` is NaN for a statement in words. `ours_se` is the standard error over chains or repeats; that of seconds
    includes their spread between runs. Effective sample sizes are scaled to the kept draws of the paper; `ratio` is
    ours over the paper's, NaN where there is none. An item and problem for which the run measured nothing has no rows.

    A number is not judged if it is based on other data or other settings than the papers', or if its error leaves the
    verdict open; the note says which. An effective sample size is by construction where both are all the draws. Tables
    have the names of their files: results, results_se, fig1, ...; a missing one was not run. ``others`` are the
    settings that differ from the papers' (`rnshmc.scorecard.settings.other_settings`). Raises `DataError` if a number
    has a measure that does not exist, or arguments that it does not take; `StoreError` if a table of the run lacks a
    column.
    """
    for number in numbers:
        check(number)
    published = by_key(numbers)
    pairs = _that_ran([_pair(tables, published, number) for number in numbers])
    return pd.DataFrame([_row(pair, reasons, others) for pair in pairs], columns=list(SCORECARD_COLUMNS))


def sums(card: pd.DataFrame) -> pd.DataFrame:
    """Numbers by verdict, a row for each of `VERDICTS`, and by paper: columns (paper, whether after a search)."""
    return (
        pd.crosstab(card["verdict"], [card["paper"], card["after_search"].astype(bool)])
        .reindex(VERDICTS, fill_value=0)
        .rename_axis(index="", columns=("paper", AFTER_SEARCH))
    )


def verdict_counts(card: pd.DataFrame) -> dict[str, int]:
    """Counts of numbers by verdict; those after a search, and of these the reproduced and compared ones, apart.

    "not comparable" is the sum of `rnshmc.scorecard.rules.APART`; numbers that differ without a reason are part of
    those that differ.
    """
    after = card["after_search"].astype(bool)
    verdicts, searched = card.loc[~after, "verdict"], card.loc[after, "verdict"]
    return {
        **{name: int((verdicts == name).sum()) for name in VERDICTS if name not in APART},
        "not comparable": int(verdicts.isin(APART).sum()),
        AFTER_SEARCH: len(searched),
        f"{AFTER_SEARCH}, reproduced": int((searched == "reproduced").sum()),
        f"{AFTER_SEARCH}, compared": int(searched.isin(["reproduced", "differs"]).sum()),
        UNEXPLAINED: sum(str(note).startswith(UNEXPLAINED) for note in card["note"]),
    }


def _that_ran(pairs: Sequence[Pair]) -> list[Pair]:
    """The numbers of items and problems of which the run measured one; repeats, of papers and problems."""
    ran = {_section(pair.number) for pair in pairs if pair.measured is not None}
    somewhere = {(paper, problem) for paper, _, problem in ran}
    return [
        pair
        for pair in pairs
        if _section(pair.number) in ran
        or (pair.number.rule.kind == "repeat" and (pair.number.paper, pair.number.problem) in somewhere)
    ]


def _section(number: Published) -> tuple[str, str, str]:
    return number.paper, number.item, number.problem


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


def _row(pair: Pair, reasons: Sequence[Reason], others: OtherSettings) -> dict[str, Any]:
    number, result = pair.number, pair.measured
    row = {"paper": number.paper, "item": number.label, "quantity": number.quantity, "printed": pair.printed}
    if result is None:
        verdict, because = (number.rule.kind, "") if number.rule.kind == "repeat" else ("not judged", NOT_RUN)
        nothing = {**dict.fromkeys(("ours", "ours_se", "ratio"), math.nan), "after_search": number.after_search}
        return {**row, **nothing, "verdict": verdict, "note": _note(because, number.note, number.where)}
    ours, printed_error = errors(pair.printed, number.chains, number.rule, result)
    verdict, because = _verdict(pair, ours, printed_error, others)
    reason = (reason_for(number, pair.printed, ours.value, reasons) or UNEXPLAINED) if verdict == "differs" else ""
    return {
        **row,
        "ours": ours.value,
        "ours_se": result.estimate.error if number.measure == "ess" else ours.error,
        "ratio": ours.value / pair.printed if pair.printed else math.nan,
        "verdict": verdict,
        "after_search": number.after_search,
        "note": _note(because, reason, number.note, number.where, pair.remark, str(number.rule), f"over {result.over}"),
    }


def _verdict(pair: Pair, ours: Estimate, printed_error: float, others: OtherSettings) -> tuple[Verdict, str]:
    """The verdict, and why there is none where there is none."""
    number, result = pair.number, pair.measured
    if number.rule.kind not in APART:
        if not math.isfinite(ours.value):
            return "not judged", "too few effective draws, or chains that did not mix"
        if result is not None and result.other_data:
            return "not judged", "stand-in data, or some of the rows"
        if because := reason_not_to_judge(number, others):
            return "not judged", f"other settings than the papers': {because}"
    if number.measure == "ess" and min(pair.printed, ours.value) >= number.draws:
        return "by construction", "all the draws in both"
    verdict = number.rule.verdict(pair.printed, ours, printed_error)
    return verdict, "the standard error leaves it open" if verdict == "not judged" else ""


def _note(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
