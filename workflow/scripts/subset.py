"""Fewer rows of a logistic regression."""

from typing import TYPE_CHECKING

from rnshmc.datasets.matrix import LogisticData, naming_file
from rnshmc.datasets.subset import random_rows
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    rng = stream(spec["seed"], spec["dataset"], "subset", str(spec["rows"]))
    with naming_file(snakemake.input.data):
        chosen = random_rows(LogisticData.load(snakemake.input.data), spec["rows"], rng)
    chosen.save(snakemake.output.data)
