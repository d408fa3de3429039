"""Acceptance on a9a projected to several dimensions."""

from rnshmc.datasets.matrix import LogisticData
from rnshmc.experiments.projection import acceptance_by_dimension
from rnshmc.run.job import job

with job(snakemake.log[0]):
    encoded = LogisticData.load(snakemake.input.encoded)
    table = acceptance_by_dimension(encoded, **snakemake.params.spec["experiment"])
    table.to_csv(snakemake.output.table, index=False, float_format="%.6g")
