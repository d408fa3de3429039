"""The scorecard's page of the report: every number that the papers print beside ours, what differs first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import Line, lines, verdict_sentence
from rnshmc.scorecard.card import PAPER_DRAWS, verdict_counts
from rnshmc.scorecard.entries import PAPER_B

PAPERS = {
    "": "Paper A: Zhang, Shahbaba and Zhao (2017)",
    PAPER_B: "Paper B: Li, Holbrook, Shahbaba and Baldi (2019)",
}
"""What each paper is called, by how its items begin."""


@dataclass(frozen=True)
class Part:
    """The lines of one paper."""

    title: str
    sentence: str
    groups: Mapping[str, Sequence[Line]]
    """All of them under their headings, in the order of the scorecard."""
    differing: Mapping[str, Sequence[Line]]
    """Those that differ."""


def scorecard_page(
    template: Path, *, run: str, card: pd.DataFrame, draws: int, claims: pd.DataFrame, titles: Mapping[str, str]
) -> str:
    """The HTML of the scorecard.

    Parameters
    ----------
    template
        The jinja2 template; what it includes lies beside it.
    run
        Name of the run.
    card
        From `rnshmc.scorecard.card.scorecard`.
    draws
        Kept draws of the longest chains.
    claims
        The statements of the papers (`rnshmc.scorecard.card.read_claims`).
    titles
        Title of each problem.
    """
    of_b = card["item"].str.startswith(PAPER_B)
    cards = {"": card[~of_b], PAPER_B: card[of_b]}
    return render(
        template,
        run=run,
        draws=draws,
        paper_draws=PAPER_DRAWS,
        counts=verdict_counts(card),
        sentence=verdict_sentence(card),
        parts=[_part(name, mine, claims, titles) for name, mine in cards.items() if not mine.empty],
    )


def _part(name: str, card: pd.DataFrame, claims: pd.DataFrame, titles: Mapping[str, str]) -> Part:
    found = lines(card, claims)
    differing = [line for line in found if line.verdict == "differs"]
    return Part(PAPERS[name], verdict_sentence(card), _groups(found, titles), _groups(differing, titles))


def _groups(found: Sequence[Line], titles: Mapping[str, str]) -> dict[str, list[Line]]:
    """The lines under their headings, in the order of the scorecard."""
    groups: dict[str, list[Line]] = {}
    for line in found:
        groups.setdefault(_group(line, titles), []).append(line)
    return groups


def _group(line: Line, titles: Mapping[str, str]) -> str:
    """The heading of a line: ``table1/bank/hmc`` stands under Table 1 and the problem, the others under their place."""
    kind, *rest = line.item.removeprefix(PAPER_B).split("/")
    place = kind.replace("table", "Table ").replace("fig", "Figure ").replace("section", "Section ")
    return f"{place}: {titles[rest[0]]}" if rest and rest[0] in titles else place
