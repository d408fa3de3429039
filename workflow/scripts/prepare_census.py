"""The Census Income matrix of paper B, standardised."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.datasets.census import prepare_census
from rnshmc.datasets.receipt import Receipt
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    first, second = map(Receipt.load, snakemake.input.receipts)
    data = prepare_census(
        (first, second),
        raw_dir=Path(snakemake.input.receipts[0]).parent,
        summary=snakemake.input.summary,
        rng=stream(snakemake.params.spec["seed"], "stand-in", "census"),
    )
    data.save(snakemake.output.data)
