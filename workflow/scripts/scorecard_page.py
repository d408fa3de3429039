"""The page of the scorecard."""

from pathlib import Path

import pandas as pd

from rnshmc.report.scorecard_page import scorecard_page
from rnshmc.results.metrics import read_metrics
from rnshmc.run.job import job
from rnshmc.scorecard.papers import read_papers
from rnshmc.scorecard.published import most_draws, read_published

with job(snakemake.log[0]):
    numbers = read_published(map(Path, snakemake.input.published))
    metrics = read_metrics(snakemake.input.metrics)
    page = scorecard_page(
        Path(snakemake.input.template),
        run=snakemake.params.spec["run"],
        card=pd.read_csv(snakemake.input.scorecard),
        numbers=numbers,
        papers={name: paper.title for name, paper in read_papers(Path(snakemake.input.papers)).items()},
        titles=snakemake.params.spec["titles"],
        draws=max((chain.draws for chain in metrics), default=0),
        paper_draws=most_draws(numbers, {chain.problem for chain in metrics}),
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
