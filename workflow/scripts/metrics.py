"""Measure the chains of a problem."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.results.metrics import chain_metrics, write_metrics
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.reference import read_reference

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    reference = read_reference(Path(snakemake.input.reference))
    metrics = [
        chain_metrics(read_chain(Path(path)), reference_mean=reference.mean, discard=snakemake.params.spec["discard"])
        for path in snakemake.input.chains
    ]
    write_metrics(Path(snakemake.output.metrics), metrics)
