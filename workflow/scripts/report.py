"""The page that tells what a run was and what came out."""

import json
from pathlib import Path

import pandas as pd

from rnshmc.report.index_page import PaperSections, read_chapters, report_page
from rnshmc.report.notebooks import read_pages
from rnshmc.report.sections import sections, with_details
from rnshmc.report.table_text import readable_diagnostics
from rnshmc.results.metrics import read_metrics
from rnshmc.results.tables import read_results
from rnshmc.results.views import read_views
from rnshmc.run.job import job
from rnshmc.scorecard.card import SCORECARD_COLUMNS
from rnshmc.scorecard.papers import NO_PAPER, read_papers
from rnshmc.scorecard.published import most_draws, read_published

spec, given = snakemake.params.spec, snakemake.input

with job(snakemake.log[0]):
    numbers = read_published(map(Path, given.published))
    papers, views = read_papers(Path(given.papers)), read_views(Path(given.views))
    results, diagnostics, agreement = (pd.read_csv(given[name]) for name in ("results", "diagnostics", "agreement"))
    metrics = read_metrics(given.metrics)
    stories = {Path(path).stem: Path(path).read_text(encoding="utf-8").strip() for path in given.stories}
    parts = []
    for paper in (*papers.values(), NO_PAPER):
        table, errors = (read_results(Path(given[name])) for name in (paper.view, f"{paper.view}_se"))
        shown = sections(table, errors, views[paper.view], numbers, spec["titles"])
        mine = [section for section in shown if spec["paper_of"].get(section.problem, "") == paper.name]
        parts.append(PaperSections(paper, tuple(with_details(mine, results, diagnostics, agreement, metrics, stories))))
    # Empty where no problem or experiment of a paper was run.
    cards = [pd.read_csv(path) for path in given.scorecard]
    index = report_page(
        Path(given.template),
        run=spec["run"],
        papers=parts,
        chapters=read_chapters(Path(given.chapters)),
        pages=read_pages(Path(given.pages_of_papers), papers),
        diagnostics=readable_diagnostics(diagnostics, spec["titles"]),
        card=cards[0] if cards else pd.DataFrame(columns=list(SCORECARD_COLUMNS)),
        numbers=numbers,
        draws=max((chain.draws for chain in metrics), default=0),
        paper_draws=most_draws(numbers, spec["titles"]),
        figures={Path(path).stem: Path(path) for path in given.figures},
        notebooks={Path(path).stem: Path(path).name for path in given.pages},
        provenance=json.loads(Path(given.provenance).read_text(encoding="utf-8")),
    )
    Path(snakemake.output.page).write_text(index, encoding="utf-8")
