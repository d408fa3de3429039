"""The page of the scorecard: every printed number compared with ours, starting with those that differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import Line, lines, of_items, verdict_sentence
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.published import Published


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
    run
        Name of the run.
    card
        From `rnshmc.scorecard.card.scorecard`.
    numbers
        The published numbers (`rnshmc.scorecard.published.read_published`).
    papers
        Title of each paper, in the order of the page.
    titles
        Title of each problem.
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
    everything = lines(card, numbers)
    differing = [line for line in everything if line.verdict == "differs"]
    return Part(title, verdict_sentence(card), _groups(everything, titles), _groups(differing, titles))


def _groups(chosen: Sequence[Line], titles: Mapping[str, str]) -> dict[str, list[Line]]:
    """The lines under the table, figure or section and the problem that they are about, in the order of the card."""
    groups: dict[str, list[Line]] = {}
    for line in chosen:
        title = titles.get(line.problem, line.problem)
        groups.setdefault(f"{line.heading}: {title}" if title else line.heading, []).append(line)
    return groups
