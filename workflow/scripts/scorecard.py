"""Make the scorecard of a run: every printed number of the papers with ours."""

from pathlib import Path

import pandas as pd

from rnshmc.run.job import job
from rnshmc.scorecard.card import scorecard
from rnshmc.scorecard.published import read_published
from rnshmc.scorecard.reasons import read_reasons

with job(snakemake.log[0]):
    card = scorecard(
        {Path(path).stem: pd.read_csv(path) for path in snakemake.input.tables},
        read_published(map(Path, snakemake.input.published)),
        read_reasons(Path(snakemake.input.reasons)),
        snakemake.params.spec["other_settings"],
    )
    card.to_csv(snakemake.output.scorecard, index=False, float_format="%.6g")
