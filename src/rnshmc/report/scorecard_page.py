"""The page of the scorecard: every printed number compared with ours, starting with those that differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import Line, judged, lines, of_items, verdict_sentence
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.published import Published
from rnshmc.scorecard.rules import APART


@dataclass(frozen=True)
class Part:
    """The lines of one paper."""

    title: str
    sentence: str
    differing: Mapping[str, Sequence[Line]]
    """Those that differ, under their headings, in the order of the scorecard."""
    judged: Mapping[str, Sequence[Line]]
    """Those with a verdict."""
    folded: Mapping[str, Mapping[str, Sequence[Line]]]
    """The others, by why they have none and how many they are."""


def scorecard_page(
    template: Path,
    *,
    run: str,
    card: pd.DataFrame,
    numbers: Sequence[Published],
    papers: Mapping[str, str],
    titles: Mapping[str, str],
    draws: int,
    paper_draws: float,
) -> str:
    """The HTML of the scorecard.

    Parameters
    ----------
    template
        The jinja2 template; its includes are in the same folder.
    card, numbers
        From `rnshmc.scorecard.card.scorecard`, and the published numbers (`rnshmc.scorecard.published.read_published`).
    papers, titles
        Title of each paper, in the order of the page, and of each problem.
    draws, paper_draws
        Kept draws of the longest chains of the run, and of the longest chains in the papers.
    """
    cards = {title: of_items(card, numbers, paper) for paper, title in papers.items()}
    return render(
        template,
        run=run,
        draws=draws,
        paper_draws=f"{paper_draws:.0f}" if draws < paper_draws else "",
        counts=verdict_counts(card),
        sentence=verdict_sentence(card),
        parts=[_part(title, mine, numbers, titles) for title, mine in cards.items() if not mine.empty],
    )


def _part(title: str, card: pd.DataFrame, numbers: Sequence[Published], titles: Mapping[str, str]) -> Part:
    unjudged = card["verdict"] == "not judged"
    chosen = {
        "differing": card["verdict"] == "differs",
        "judged": judged(card),
        f"Not judged in this run: {unjudged.sum()}": unjudged,
        f"Not comparable: {card['verdict'].isin(APART).sum()}": card["verdict"].isin(APART),
    }
    groups = {name: _groups(lines(card[rows], numbers), titles) for name, rows in chosen.items() if rows.any()}
    differing, verdicts = groups.pop("differing", {}), groups.pop("judged", {})
    return Part(title, verdict_sentence(card), differing, verdicts, folded=groups)


def _groups(chosen: Sequence[Line], titles: Mapping[str, str]) -> dict[str, list[Line]]:
    """The lines under the table, figure or section and the problem that they are about, in the order of the card."""
    groups: dict[str, list[Line]] = {}
    for line in chosen:
        title = titles.get(line.problem, line.problem)
        groups.setdefault(f"{line.heading}: {title}" if title else line.heading, []).append(line)
    return groups
