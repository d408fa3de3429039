"""Measure one chain."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.metrics import chain_metrics
from rnshmc.store.reference import read_reference

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    metrics = chain_metrics(
        read_chain(Path(snakemake.input.chain)),
        reference_mean=read_reference(Path(snakemake.input.reference)).mean,
        discard=snakemake.params.spec["discard"],
    )
    metrics.write(Path(snakemake.output.metrics))
