"""The Bank Marketing matrix, standardised, with its intercept."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.datasets.bank import prepare_bank
from rnshmc.datasets.receipt import Receipt
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

receipt_file = Path(snakemake.input.receipt)

with job(snakemake.log[0]):
    data = prepare_bank(
        Receipt.load(receipt_file),
        raw_dir=receipt_file.parent,
        summary=snakemake.input.summary,
        rng=stream(snakemake.params.spec["seed"], "stand-in", "bank"),
    )
    data.save(snakemake.output.data)
