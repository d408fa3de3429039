"""Surrogates of a parabola, fitted to few observations."""

from rnshmc.datasets.receipt import read_published
from rnshmc.experiments.one_dimension import one_dimension
from rnshmc.run.job import job

spec = snakemake.params.spec

with job(snakemake.log[0]):
    receipts = snakemake.input.published
    published = read_published(receipts[0], "X", "Y") if receipts else None
    found = one_dimension(seed=spec["seed"], **spec["settings"], published=published)
    for name, table in found._asdict().items():
        table.to_csv(snakemake.output[name], index=False, float_format="%.6g")
