"""The scorecard as text: each number in words, ours and the paper's, and counts of verdicts."""

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from rnshmc.report.table_text import plus_minus, significant
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.card import AFTER_SEARCH, UNEXPLAINED, sums, verdict_counts
from rnshmc.scorecard.published import Key, Published, by_key
from rnshmc.scorecard.reasons import Reason
from rnshmc.scorecard.rules import VERDICTS

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
    published = by_key(numbers)
    return pd.DataFrame([_line(row, published[_key(row)]) for row in card.to_dict("records")], columns=_LINE)


def of_items(card: pd.DataFrame, numbers: Sequence[Published], paper: str, *items: str) -> pd.DataFrame:
    """The rows of a scorecard about some items of a paper, or about all of it."""
    keys = {number.key for number in numbers if number.paper == paper and (not items or number.item in items)}
    chosen = pd.Series([_key(row) in keys for row in card.to_dict("records")], index=card.index, dtype=bool)
    return card[chosen]


def judged(card: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows of a scorecard compare a number with the paper's."""
    return card["verdict"].isin(["reproduced", "differs", "better than printed"])


def judged_numbers(card: pd.DataFrame, numbers: Sequence[Published]) -> list[Published]:
    """The published numbers of those tables and problems of which the run judges at least one."""
    published = by_key(numbers)
    found = [published[_key(row)] for row in card[judged(card)].to_dict("records")]
    places = {(number.paper, number.item, number.problem) for number in found}
    return [number for number in numbers if (number.paper, number.item, number.problem) in places]


def readable_scorecard(card: pd.DataFrame, numbers: Sequence[Published]) -> pd.DataFrame:
    """The rows of a scorecard as a table of texts, for a notebook."""
    table = lines(card, numbers)
    table["ours"] = [f"{ours} {error}".strip() for ours, error in zip(table["ours"], table["error"], strict=True)]
    return table[["what", "printed", "ours", "verdict", "note"]].rename(columns={"what": "", "printed": "paper"})


def sum_table(card: pd.DataFrame, papers: Mapping[str, str]) -> pd.DataFrame:
    """Sums of the scorecard by verdict, as text: a column for each paper, and for its numbers after a search, if any.

    `card` is from `rnshmc.scorecard.card.scorecard`, `papers` has the title of each paper by its name.
    """
    counts = sums(card)
    columns = {
        (f"{title}, {AFTER_SEARCH}" if after else title): counts[paper, after]
        for paper, title in papers.items()
        for after in (False, True)
        if (paper, after) in counts
    }
    return pd.DataFrame({"": ["compared", *VERDICTS, "all"], **{title: _sums(of) for title, of in columns.items()}})


def _sums(of: "pd.Series[int]") -> list[str]:
    compared = of["reproduced"] + of["differs"]
    share = f" ({of['reproduced'] / compared:.1%})" if compared else ""
    return [str(compared), f"{of['reproduced']}{share}", *(str(of[name]) for name in VERDICTS[1:]), str(of.sum())]


def verdict_table(card: pd.DataFrame, numbers: Sequence[Published], paper: str) -> pd.DataFrame:
    """Counts of the verdicts on each table, figure and section of a paper, as text.

    `card` is from `rnshmc.scorecard.card.scorecard`, `numbers` are the published numbers, `paper` is the paper's name.
    """
    mine = of_items(card, numbers, paper)
    published = by_key(numbers)
    headings = pd.Series([published[_key(row)].heading for row in mine.to_dict("records")], index=mine.index, dtype=str)
    return pd.DataFrame([_verdicts(str(heading), rows) for heading, rows in mine.groupby(headings, sort=False)])


def difference_table(card: pd.DataFrame, paper: str, reasons: Sequence[Reason]) -> pd.DataFrame:
    """Why numbers of a paper differ: a row for each reason, with its items and how many numbers, as text.

    `card` is from `rnshmc.scorecard.card.scorecard`, `paper` is the paper's name, and `reasons` are those from which
    the notes of the card were made (`rnshmc.scorecard.reasons.read_reasons`).
    """
    rows = card[(card["paper"] == paper) & (card["verdict"] == "differs")]
    known = rows["note"].map(
        lambda note: next((part.reason for part in reasons if note.startswith(part.reason)), UNEXPLAINED)
    )
    return pd.DataFrame(
        [
            {
                "differs": ", ".join(dict.fromkeys(item.replace("_unscaled", "") for item in part["item"])),
                "numbers": str(int((~part["after_search"].astype(bool)).sum())),
                AFTER_SEARCH: str(int(part["after_search"].sum())),
                "why": str(why),
            }
            for why, part in rows.groupby(known, sort=False)
        ]
    )


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
    searched = f"; {AFTER_SEARCH}, reproduced: {_searched(counts)}" if counts[AFTER_SEARCH] else ""
    return (
        f"Numbers compared with the paper: {compared}; reproduced: {counts['reproduced']}; "
        f"different: {counts['differs']}{unexplained}{searched}{rest}."
    )


def _searched(counts: Mapping[str, int]) -> str:
    return f"{counts[f'{AFTER_SEARCH}, reproduced']} of {counts[f'{AFTER_SEARCH}, compared']}"


def _key(row: Mapping[Hashable, object]) -> Key:
    return str(row["paper"]), str(row["item"]), str(row["quantity"])


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


def _verdicts(heading: str, rows: pd.DataFrame) -> dict[str, str]:
    """The row of one item in `verdict_table`."""
    counts = verdict_counts(rows)
    names = ("reproduced", "differs", "better than printed", "not judged", "not comparable")
    searched = _searched(counts) if counts[AFTER_SEARCH] else ""
    return {"": heading, **{name: str(counts[name]) for name in names}, AFTER_SEARCH: searched}
