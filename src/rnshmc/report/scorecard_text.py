"""The scorecard as people read it: what a number is, ours beside the paper's, and a sentence about many of them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import pandas as pd

from rnshmc.report.table_text import significant
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.card import UNEXPLAINED, verdict_counts

_QUANTITIES = {
    "ap": "acceptance",
    "ess_min": "ESS, least",
    "ess_median": "ESS, median",
    "ess_max": "ESS, largest",
    "s_per_iter": "seconds per iteration",
    "min_ess_per_s": "least ESS per second",
    "speedup": "speed-up",
    "truncated_ess_min": "truncated ESS, least",
    "truncated_ess_median": "truncated ESS, median",
    "truncated_ess_max": "truncated ESS, largest",
    "cpu_s": "seconds of 10000 draws",
    "median_ess_per_s": "median ESS per second",
}


@dataclass(frozen=True)
class Line:
    """A row of the scorecard as text."""

    item: str
    what: str
    """What the number is: of a cell of Table 1 the sampler and the quantity, of a statement its words."""
    paper: str
    ours: str
    error: str
    ratio: str
    verdict: str
    note: str


def lines(card: pd.DataFrame, claims: pd.DataFrame) -> list[Line]:
    """The rows of a scorecard as text.

    Parameters
    ----------
    card
        From `rnshmc.scorecard.card.scorecard`.
    claims
        From `rnshmc.scorecard.card.read_claims`: the words of the statements.
    """
    keys = zip(claims["item"], claims["quantity"], strict=True)
    words = dict(zip(keys, claims["statement"], strict=True))
    return [_line(row, words) for row in card.to_dict("records")]


def readable_scorecard(card: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """The rows of a scorecard as a table of texts, for a notebook."""
    chosen = lines(card, claims)
    return pd.DataFrame(
        {
            "": [line.what for line in chosen],
            "paper": [line.paper for line in chosen],
            "ours": [f"{line.ours} {line.error}".strip() for line in chosen],
            "verdict": [line.verdict for line in chosen],
            "note": [line.note for line in chosen],
        }
    )


def verdict_sentence(card: pd.DataFrame) -> str:
    """How many numbers were reproduced and how many were not, in a sentence."""
    counts = verdict_counts(card)
    compared = counts["reproduced"] + counts["differs"]
    unexplained = f" ({counts[UNEXPLAINED]} without a reason)" if counts[UNEXPLAINED] else ""
    rest = f"; not comparable: {counts['not comparable']}" if counts["not comparable"] else ""
    return (
        f"Numbers compared with the paper: {compared}; reproduced: {counts['reproduced']}; "
        f"different: {counts['differs']}{unexplained}{rest}."
    )


def _line(row: Mapping[Hashable, object], words: Mapping[tuple[str, str], str]) -> Line:
    item, quantity, note = str(row["item"]), str(row["quantity"]), str(row["note"])
    ours, error, ratio, paper = (float(str(row[name])) for name in ("ours", "ours_se", "ratio", "paper"))
    return Line(
        item=item,
        what=words.get((item, quantity)) or f"{sampler_label(item.split('/')[-1])}, {_QUANTITIES[quantity]}",
        paper=f"{paper:g}",
        ours=significant(ours),
        error="" if pd.isna(error) or error == 0 else f"± {significant(error, 2)}",
        ratio=significant(ratio),
        verdict=str(row["verdict"]),
        note=note,
    )
