"""The page of the scorecard: every printed number compared with ours, starting with those that differ."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import judged, lines, of_items, verdict_sentence
from rnshmc.results.names import Titles
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.published import Published
from rnshmc.scorecard.rules import APART

Groups = Mapping[str, Sequence[Mapping[Hashable, Any]]]
"""Lines of `rnshmc.report.scorecard_text.lines` under their headings, in the order of the scorecard."""


def scorecard_page(
    template: Path,
    *,
    run: str,
    card: pd.DataFrame,
    numbers: Sequence[Published],
    papers: Mapping[str, str],
    titles: Titles,
    draws: int,
    paper_draws: float,
) -> str:
    """The HTML of the scorecard, `card`, of the published numbers.

    `template` is a jinja2 template with its includes in the same folder; `papers` has the title of each paper, in the
    order of the page. `draws` and `paper_draws` are kept by the longest chains of the run, and of the papers.
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


def _part(title: str, card: pd.DataFrame, numbers: Sequence[Published], titles: Titles) -> dict[str, Any]:
    """The lines of one paper: those that differ, those with a verdict, and the others by why they have none."""

    def groups(rows: "pd.Series[bool]") -> Groups:
        return _groups(lines(card[rows], numbers), titles)

    unjudged, apart = card["verdict"] == "not judged", card["verdict"].isin(APART)
    folded = {f"Not judged in this run: {unjudged.sum()}": unjudged, f"Not comparable: {apart.sum()}": apart}
    return {
        "title": title,
        "sentence": verdict_sentence(card),
        "differing": groups(card["verdict"] == "differs"),
        "judged": groups(judged(card)),
        "folded": {name: groups(rows) for name, rows in folded.items() if rows.any()},
    }


def _groups(chosen: pd.DataFrame, titles: Titles) -> Groups:
    """The lines under the table, figure or section and the problem that they are about, in the order of the card."""
    problems = chosen["problem"].map(lambda name: f": {titles.get(name, name)}" if name else "")
    groups = chosen.groupby(chosen["heading"] + problems, sort=False)
    return {str(heading): rows.to_dict("records") for heading, rows in groups}
