"""The first page of the report: the sums of the scorecard, Table 1, and links to the notebooks."""

from collections.abc import Mapping, Sequence
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


def index_page(
    template: Path,
    *,
    run: str,
    links: Sequence[Mapping[str, Any]],
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
    """The HTML of the first page, with its styles and small versions of the figures (PNG files) inside.

    `template` is a jinja2 template with its includes in the same folder. `links` have the ``name``, ``title``,
    ``paper``, ``items`` and ``figures`` (titles by name) of each page, `papers` the title of each paper, and `table`
    the problems of Table 1. The others are from `rnshmc.results.agreement.agreement_table`,
    `rnshmc.report.table_text.readable_diagnostics`, `rnshmc.scorecard.card.scorecard` (empty where nothing of a paper
    was run), `rnshmc.scorecard.published.read_published` and `rnshmc.store.provenance`.
    """
    own = {section.problem for section in table}
    return render(
        template,
        run=run,
        groups={
            title: [link for link in links if link["paper"] == paper and link["name"] not in own]
            for paper, title in {**papers, "": "Beyond the papers"}.items()
        },
        pages={link["name"] for link in links},
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
            link["name"]: verdict_sentence(of_items(card, numbers, link["paper"], *link["items"]))
            for link in links
            if link["items"]
        },
        figures=figures,
        provenance=provenance,
    )
