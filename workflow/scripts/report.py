"""The first page of the report."""

import json
from pathlib import Path

import pandas as pd

from rnshmc.report.index_page import index_page
from rnshmc.report.limits import limits
from rnshmc.report.scorecard_text import judged_numbers
from rnshmc.report.sections import sections
from rnshmc.report.table_text import readable_diagnostics
from rnshmc.results.tables import read_results
from rnshmc.results.views import read_views
from rnshmc.run.job import job
from rnshmc.scorecard.card import SCORECARD_COLUMNS
from rnshmc.scorecard.papers import NO_PAPER, read_papers
from rnshmc.scorecard.published import most_draws, read_published

spec, given = snakemake.params.spec, snakemake.input

with job(snakemake.log[0]):
    numbers = read_published(map(Path, given.published))
    table, errors, results = (read_results(Path(given[name])) for name in ("table", "errors", "results"))
    # Empty if no problem or experiment of a paper was run.
    card = next(map(pd.read_csv, given.scorecard), pd.DataFrame(columns=list(SCORECARD_COLUMNS)))
    shown = judged_numbers(card, numbers)
    page = index_page(
        Path(given.template),
        run=spec["run"],
        links=spec["links"],
        papers={name: paper.title for name, paper in read_papers(Path(given.papers)).items()},
        table=sections(table, errors, read_views(Path(given.views))[NO_PAPER.view], shown, spec["titles"]),
        agreement=pd.read_csv(given.agreement),
        diagnostics=readable_diagnostics(pd.read_csv(given.diagnostics), spec["titles"]),
        limits=limits(results, spec["titles"], most_draws(numbers, spec["titles"])),
        card=card,
        numbers=numbers,
        figures={Path(path).stem: Path(path) for path in given.figures},
        provenance=json.loads(Path(given.provenance).read_text(encoding="utf-8")),
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
