"""The scorecard of a run: every number that the papers print beside ours."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.results.tables import read_results
from rnshmc.run.job import job
from rnshmc.scorecard.card import read_claims, read_reasons, scorecard
from rnshmc.scorecard.network_entries import read_network_tables

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    card = scorecard(
        {Path(path).stem: pd.read_csv(path) for path in snakemake.input.tables},
        read_results(Path(snakemake.input.published)),
        read_network_tables(Path(snakemake.input.network_published)),
        read_claims(Path(snakemake.input.claims)),
        read_reasons(Path(snakemake.input.reasons)),
    )
    card.to_csv(snakemake.output.scorecard, index=False, float_format="%.6g")
