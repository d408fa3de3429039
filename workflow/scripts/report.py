"""The page that tells what a run was and what came out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.report.index_page import Results, report_page, sections
from rnshmc.report.network_text import network_sections
from rnshmc.report.table_text import readable_diagnostics
from rnshmc.results.metrics import read_metrics
from rnshmc.results.tables import read_results
from rnshmc.run.job import job
from rnshmc.scorecard.card import SCORECARD_COLUMNS
from rnshmc.scorecard.published import most_draws, read_published

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    numbers = read_published(map(Path, snakemake.input.published))
    results = Results(
        table=read_results(Path(snakemake.input.table1)),
        errors=read_results(Path(snakemake.input.table1_se)),
        diagnostics=pd.read_csv(snakemake.input.diagnostics),
        agreement=pd.read_csv(snakemake.input.agreement),
        numbers=numbers,
        metrics=read_metrics(snakemake.input.metrics),
    )
    stories = {Path(path).stem: Path(path).read_text(encoding="utf-8").strip() for path in snakemake.input.stories}
    network, network_se = (pd.read_csv(snakemake.input[name]) for name in ("nng_tables", "nng_tables_se"))
    # Empty where no problem or experiment of a paper was run.
    cards = [pd.read_csv(path) for path in snakemake.input.scorecard]
    card = cards[0] if cards else pd.DataFrame(columns=list(SCORECARD_COLUMNS))
    index = report_page(
        Path(snakemake.input.template),
        run=spec["run"],
        problems=sections(results, spec["titles"], stories),
        gradient_problems=network_sections(network, network_se, numbers, spec["titles"]),
        diagnostics=readable_diagnostics(results.diagnostics, spec["titles"]),
        card=card,
        numbers=numbers,
        draws=max((chain.draws for chain in results.metrics), default=0),
        paper_draws=most_draws(numbers, results.table["problem"]),
        figures={Path(path).stem: Path(path) for path in snakemake.input.figures},
        notebooks={Path(path).stem: Path(path).name for path in snakemake.input.pages},
        provenance=json.loads(Path(snakemake.input.provenance).read_text(encoding="utf-8")),
    )
    Path(snakemake.output.page).write_text(index, encoding="utf-8")
