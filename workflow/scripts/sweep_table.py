"""The tidy table of a sweep: one row for each point and run."""

from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.points], ignore_index=True)
    table.insert(0, "figure", snakemake.wildcards.sweep)
    table.to_csv(snakemake.output.table, index=False)
