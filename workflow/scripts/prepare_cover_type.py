"""The matrix of Cover Type, standardised."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.datasets.covertype import prepare_covertype
from rnshmc.datasets.receipt import Receipt
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    data = prepare_covertype(
        Receipt.load(snakemake.input.receipts[0]),
        raw_dir=Path(snakemake.input.receipts[0]).parent,
        rng=stream(snakemake.params.spec["seed"], "stand-in", "cover_type"),
    )
    data.save(snakemake.output.data)
