"""The scorecard's page of the report: every number that the paper prints beside ours, what differs first."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from rnshmc.plots.pages import render
from rnshmc.store.scorecard import PAPER_DRAWS, verdict_counts
from rnshmc.store.scorecard_text import Line, lines, verdict_sentence


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
        From `rnshmc.store.scorecard.scorecard`.
    draws
        Kept draws of the longest chains.
    claims
        The statements of the paper (`rnshmc.store.scorecard.read_claims`).
    titles
        Title of each problem.
    """
    found = lines(card, claims)
    return render(
        template,
        run=run,
        draws=draws,
        paper_draws=PAPER_DRAWS,
        counts=verdict_counts(card),
        sentence=verdict_sentence(card),
        differing=[(_group(line, titles), line) for line in found if line.verdict == "differs"],
        groups=_groups(found, titles),
    )


def _groups(found: list[Line], titles: Mapping[str, str]) -> dict[str, list[Line]]:
    """The lines under their headings, in the order of the scorecard."""
    groups: dict[str, list[Line]] = {}
    for line in found:
        groups.setdefault(_group(line, titles), []).append(line)
    return groups


def _group(line: Line, titles: Mapping[str, str]) -> str:
    """The heading of a line: ``table1/bank/hmc`` stands under Table 1 and the problem, the others under their place."""
    kind, _, rest = line.item.partition("/")
    if kind == "table1":
        problem = rest.partition("/")[0]
        return f"Table 1: {titles.get(problem, problem)}"
    return kind.replace("fig", "Figure ").replace("section", "Section ")
