"""Concatenate the rows of several tables."""

import pandas as pd

from rnshmc.run.job import job

with job(snakemake.log[0]):
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.points], ignore_index=True)
    for place, (name, value) in enumerate(snakemake.params.spec["columns"].items()):
        table.insert(place, name, value)
    table.to_csv(snakemake.output.table, index=False)
