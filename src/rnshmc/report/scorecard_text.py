"""The scorecard as text: each number in words, ours and the paper's, and counts of verdicts."""

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from rnshmc.report.table_text import plus_minus, significant
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.card import AFTER_SEARCH, UNEXPLAINED, verdict_counts
from rnshmc.scorecard.published import Published, by_key

_QUANTITIES = {
    "ap": "acceptance",
    "ess_min": "minimum ESS",
    "ess_median": "median ESS",
    "ess_max": "maximum ESS",
    "s_per_iter": "seconds per iteration",
    "min_ess_per_s": "minimum ESS per second",
    "speedup": "speed-up",
    "cpu_s": "seconds of 10000 draws",
    "median_ess_per_s": "median ESS per second",
}
_LINE = ["heading", "problem", "what", "printed", "ours", "error", "ratio", "verdict", "after_search", "note"]


def lines(card: pd.DataFrame, numbers: Sequence[Published]) -> pd.DataFrame:
    """The rows of a scorecard as text, in the columns `_LINE`.

    `card` is from `rnshmc.scorecard.card.scorecard`, `numbers` are the published numbers that its rows are about.
    """
    rows = zip(card.to_dict("records"), numbers_of(card, numbers), strict=True)
    return pd.DataFrame([_line(row, number) for row, number in rows], columns=_LINE)


def numbers_of(card: pd.DataFrame, numbers: Sequence[Published]) -> list[Published]:
    """The published number of each row of a scorecard."""
    published = by_key(numbers)
    return [published[key] for key in zip(card["paper"], card["item"], card["quantity"], strict=True)]


def of_items(card: pd.DataFrame, numbers: Sequence[Published], paper: str, *items: str) -> pd.DataFrame:
    """The rows of a scorecard about some items of a paper, or about all of it."""
    mine = card[card["paper"] == paper]
    return mine.loc[[not items or number.item in items for number in numbers_of(mine, numbers)]]


def judged(card: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows of a scorecard compare a number with the paper's."""
    return card["verdict"].isin(["reproduced", "differs", "better than printed"])


def judged_numbers(card: pd.DataFrame, numbers: Sequence[Published]) -> list[Published]:
    """The published numbers of those tables and problems of which the run judges at least one."""
    found = numbers_of(card[judged(card)], numbers)
    places = {(number.paper, number.item, number.problem) for number in found}
    return [number for number in numbers if (number.paper, number.item, number.problem) in places]


def readable_scorecard(card: pd.DataFrame, numbers: Sequence[Published]) -> pd.DataFrame:
    """The rows of a scorecard as a table of texts, for a notebook."""
    table = lines(card, numbers)
    table["ours"] = [f"{ours} {error}".strip() for ours, error in zip(table["ours"], table["error"], strict=True)]
    return table[["what", "printed", "ours", "verdict", "note"]].rename(columns={"what": "", "printed": "paper"})


def verdict_sentence(card: pd.DataFrame) -> str:
    """A sentence with the counts of verdicts."""
    counts = verdict_counts(card)
    if not judged(card).any():
        apart = counts["not comparable"]
        unjudged = {"not judged in this run": len(card) - apart, "not comparable": apart}
        return "; ".join(f"{n} number{'s' * (n > 1)}, {why}" for why, n in unjudged.items() if n) + "."
    compared = counts["reproduced"] + counts["differs"]
    unexplained = f" ({counts[UNEXPLAINED]} without a reason)" if counts[UNEXPLAINED] else ""
    rest = "".join(
        f"; {name}: {counts[name]}" for name in ("better than printed", "not judged", "not comparable") if counts[name]
    )
    reproduced, tried = (counts[f"{AFTER_SEARCH}, {name}"] for name in ("reproduced", "compared"))
    searched = f"; {AFTER_SEARCH}, reproduced: {reproduced} of {tried}" if counts[AFTER_SEARCH] else ""
    return (
        f"Numbers compared with the paper: {compared}; reproduced: {counts['reproduced']}; "
        f"different: {counts['differs']}{unexplained}{searched}{rest}."
    )


def _line(row: Mapping[Hashable, object], number: Published) -> dict[str, object]:
    """The heading and problem of a row, sampler and quantity or the words of a statement, and the rest as text."""
    ours, error, ratio, printed = (float(str(row[name])) for name in ("ours", "ours_se", "ratio", "printed"))
    return {
        "heading": number.heading,
        "problem": number.problem,
        "what": number.statement or _what(number),
        "printed": "" if pd.isna(printed) else f"{printed:.4g}",
        "ours": significant(ours),
        "error": plus_minus(error),
        "ratio": "" if pd.isna(ratio) else significant(ratio),
        **{name: row[name] for name in ("verdict", "after_search", "note")},
    }


def _what(number: Published) -> str:
    """Sampler and quantity of a cell of a table, and what it is relative to."""
    quantity = _QUANTITIES.get(number.quantity, number.quantity.replace("_", " "))
    relative = f" relative to {sampler_label(number.relative_to)}" if number.relative_to else ""
    return f"{sampler_label(number.sampler)}, {quantity}{relative}"
