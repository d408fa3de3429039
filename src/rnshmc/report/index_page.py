"""The first page of the report: the sums of the scorecard, Table 1, and links to the notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.report.limits import Limits
from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import of_items, verdict_sentence
from rnshmc.report.sections import Section
from rnshmc.report.table_text import means_text
from rnshmc.results.agreement import LEVEL
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.published import Published


@dataclass(frozen=True)
class Link:
    """A page of the report.

    Attributes
    ----------
    name, title
        Of its file, and as the link shows it.
    paper, items
        The paper that it is about, if any, and the items of it whose numbers it compares.
    figures
        Title of each of its figures, by name.
    """

    name: str
    title: str
    paper: str
    items: Sequence[str]
    figures: Mapping[str, str]


def index_page(
    template: Path,
    *,
    run: str,
    links: Sequence[Link],
    papers: Mapping[str, str],
    table: Sequence[Section],
    agreement: pd.DataFrame,
    diagnostics: pd.DataFrame,
    limits: Limits,
    card: pd.DataFrame,
    numbers: Sequence[Published],
    figures: Mapping[str, Path],
    provenance: Mapping[str, Any],
) -> str:
    """The HTML of the first page, with its styles and small versions of the figures inside.

    Parameters
    ----------
    template
        The jinja2 template; its includes are in the same folder.
    links, papers, table
        The pages of the report, the title of each paper, and the problems of Table 1 with their samplers.
    agreement, diagnostics
        From `rnshmc.results.agreement.agreement_table`, and `rnshmc.report.table_text.readable_diagnostics`.
    card, numbers
        From `rnshmc.scorecard.card.scorecard`, empty where no problem or experiment of a paper was run; and the
        published numbers (`rnshmc.scorecard.published.read_published`).
    figures
        PNG files.
    provenance
        From `rnshmc.store.provenance`.
    """
    own = {section.problem for section in table}
    return render(
        template,
        run=run,
        groups={
            title: [link for link in links if link.paper == paper and link.name not in own]
            for paper, title in {**papers, "": "Beyond the papers"}.items()
        },
        pages={link.name for link in links},
        table=table,
        printed=any(number.paper for section in table for row in section.rows for number in row.numbers.values()),
        compared=len(agreement),
        level=f"{LEVEL:.0%}",
        means={
            (row["problem"], sampler_label(row["sampler"])): means_text(row["agrees"], mixed=bool(row["mixed"]))
            for row in agreement.to_dict("records")
        },
        samplers=len(diagnostics),
        warned=diagnostics[diagnostics["warnings"] != "none"].to_dict("records"),
        limits=limits,
        counts=verdict_counts(card) if len(card) else {},
        sentences={
            link.name: verdict_sentence(of_items(card, numbers, link.paper, *link.items))
            for link in links
            if link.items
        },
        figures=figures,
        provenance=provenance,
    )
