"""The matrix of Dota2 Games Results, standardised."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.datasets.dota2 import prepare_dota2
from rnshmc.datasets.receipt import Receipt
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    first, second = map(Receipt.load, snakemake.input.receipts)
    data = prepare_dota2(
        (first, second),
        raw_dir=Path(snakemake.input.receipts[0]).parent,
        rng=stream(snakemake.params.spec["seed"], "stand-in", "dota2"),
    )
    data.save(snakemake.output.data)
