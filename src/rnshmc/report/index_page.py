"""The report of a run: one page with the settings and results of the run, which opens without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.errors import DataError
from rnshmc.report.notebooks import Page
from rnshmc.report.pages import render
from rnshmc.report.scorecard_text import of_items, verdict_sentence
from rnshmc.report.sections import Section
from rnshmc.scorecard.card import verdict_counts
from rnshmc.scorecard.papers import Paper
from rnshmc.scorecard.published import Published
from rnshmc.store.csv_rows import read_rows

CHAPTERS_COLUMNS = ("paper", "chapter", "link", "title", "figures", "problems")


@dataclass(frozen=True)
class Chapter:
    """A chapter of the first page, from papers/chapters.csv.

    Attributes
    ----------
    paper
        Name of the paper; empty for the chapter on problems that are of none.
    name
        Of its template in ``workflow/report/chapters``, of its notebook if it has one, and of its anchor.
    link, title
        Its title in the list of chapters, and above its text.
    figures, problems
        It is shown if one of these figures is drawn or, if it is about the paper's problems, the run has one.
    """

    paper: str
    name: str
    link: str
    title: str
    figures: tuple[str, ...]
    problems: bool


@dataclass(frozen=True)
class PaperSections:
    """The problems of a paper in a run; of none if `paper` has no name."""

    paper: Paper
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Basis:
    """What the results of a run rest on, where that is less than in the papers.

    Attributes
    ----------
    stand_ins, fewer_rows
        Titles of problems whose data are stand-ins, or some of the papers' rows.
    loaded
        Samplers and problems timed on a busy machine.
    draws, paper_draws
        Kept draws of the longest chains, and of the longest in the papers; empty where these are no longer.
    """

    stand_ins: tuple[str, ...]
    fewer_rows: tuple[str, ...]
    loaded: tuple[str, ...]
    draws: int
    paper_draws: str

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say, in a few words."""
        said = {
            f"stand-in data: {len(self.stand_ins)}": self.stand_ins,
            f"fewer rows: {len(self.fewer_rows)}": self.fewer_rows,
            "short chains": self.paper_draws,
            "a busy machine": self.loaded,
        }
        return tuple(text for text, there in said.items() if there)


def read_chapters(path: Path) -> list[Chapter]:
    """The chapters in the order in which they are shown: columns `CHAPTERS_COLUMNS`.

    Raises
    ------
    DataError
        If the file has other columns, or says something else than yes or no of problems.
    """
    chapters = []
    for source, row in read_rows(path, CHAPTERS_COLUMNS):
        if row["problems"] not in ("yes", "no"):
            raise DataError(f"{source}, column problems: expected yes or no, got {row['problems']!r}")
        figures = tuple(row["figures"].split())
        chapters.append(
            Chapter(row["paper"], row["chapter"], row["link"], row["title"], figures, row["problems"] == "yes")
        )
    return chapters


def report_page(
    template: Path,
    *,
    run: str,
    papers: Sequence[PaperSections],
    chapters: Sequence[Chapter],
    pages: Mapping[str, Page],
    diagnostics: pd.DataFrame,
    card: pd.DataFrame,
    numbers: Sequence[Published],
    draws: int,
    paper_draws: float,
    figures: Mapping[str, Path],
    notebooks: Mapping[str, str],
    provenance: Mapping[str, Any],
) -> str:
    """The HTML of the report, with its styles and figures inside.

    Parameters
    ----------
    template
        The jinja2 template; its includes are in the same folder.
    run
        Name of the run.
    papers
        The problems of each paper, from `rnshmc.report.sections`.
    chapters, pages
        From `read_chapters` and `rnshmc.report.notebooks.read_pages`.
    diagnostics
        From `rnshmc.report.table_text.readable_diagnostics`, of every problem.
    card
        From `rnshmc.scorecard.card.scorecard`; empty where no problem or experiment of a paper was run.
    numbers
        The published numbers (`rnshmc.scorecard.published.read_published`).
    draws, paper_draws
        Kept draws of the longest chains of the run, and of these problems in the papers.
    figures
        PNG files; a chapter whose figures are missing is omitted.
    notebooks
        Links to the notebooks, relative to the report.
    provenance
        From `rnshmc.store.provenance`.
    """
    diagnosed = diagnostics.to_dict("records")
    everything = [section for of_one in papers for section in of_one.sections]
    by_paper = {of_one.paper.name: of_one.sections for of_one in papers}
    return render(
        template,
        run=run,
        papers=[of_one for of_one in papers if of_one.sections],
        by_paper=by_paper,
        compared=[of_one.paper.citation for of_one in papers if of_one.paper.citation and len(card)],
        detailed=[section for of_one in papers if of_one.paper.pages == "each" for section in of_one.sections],
        chapters=[chapter for chapter in chapters if _is_shown(chapter, figures, by_paper)],
        pages=pages,
        samplers={row.sampler for section in everything for row in section.rows},
        basis=_basis(everything, draws, paper_draws),
        diagnostics=diagnosed,
        warned=[row for row in diagnosed if row["warnings"] != "none"],
        counts=verdict_counts(card) if len(card) else {},
        sentences={
            name: verdict_sentence(of_items(card, numbers, page.paper, *page.items))
            for name, page in pages.items()
            if page.items
        },
        figures=figures,
        notebooks=notebooks,
        provenance=provenance,
    )


def _is_shown(chapter: Chapter, figures: Mapping[str, Path], by_paper: Mapping[str, Sequence[Section]]) -> bool:
    drawn = any(name in figures for name in chapter.figures)
    return drawn or (chapter.problems and bool(by_paper.get(chapter.paper)))


def _basis(everything: Sequence[Section], draws: int, paper_draws: float) -> Basis:
    return Basis(
        stand_ins=tuple(section.title for section in everything if section.stand_in),
        fewer_rows=tuple(section.title for section in everything if section.origin == "subset"),
        loaded=tuple(text for section in everything if (text := _loaded(section))),
        draws=draws,
        paper_draws=f"{paper_draws:.0f}" if 0 < draws < paper_draws else "",
    )


def _loaded(section: Section) -> str:
    """The samplers of a problem whose timing was disturbed; empty if none was."""
    samplers = [row.sampler for row in section.rows if row.loaded]
    return f"{', '.join(samplers)} on {section.title}" if samplers else ""
