"""Paper B's Table 4: one row for each sampler, dimension, size of the training set and repeat."""

from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.points], ignore_index=True)
    table.to_csv(snakemake.output.table, index=False)
