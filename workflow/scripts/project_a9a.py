"""a9a projected to fewer dimensions."""

from typing import TYPE_CHECKING

from rnshmc.datasets.matrix import LogisticData, naming_file
from rnshmc.datasets.project import project
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    encoded = LogisticData.load(snakemake.input.encoded)
    with naming_file(snakemake.input.encoded):
        projected = project(encoded, dim=spec["dimension"], rng=stream(spec["seed"], "a9a", "projection"))
    projected.save(snakemake.output.data)
