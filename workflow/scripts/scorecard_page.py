"""The page of the scorecard."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.report.scorecard_page import scorecard_page
from rnshmc.results.metrics import read_metrics
from rnshmc.run.job import job
from rnshmc.scorecard.card import read_claims

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    page = scorecard_page(
        Path(snakemake.input.template),
        run=snakemake.params.spec["run"],
        card=pd.read_csv(snakemake.input.scorecard),
        draws=max((chain.draws for chain in read_metrics(snakemake.input.metrics)), default=0),
        claims=read_claims(Path(snakemake.input.claims)),
        titles=snakemake.params.spec["titles"],
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
