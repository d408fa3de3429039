"""Fetch a data set's raw file into data/raw, or record that a stand-in has to be simulated."""

import os
from pathlib import Path

from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.sources import load_sources
from rnshmc.run.job import job

receipt_file = Path(snakemake.output.receipt)

with job(snakemake.log[0]):
    receipt = fetch(
        snakemake.wildcards.dataset,
        load_sources(snakemake.input.sources),
        raw_dir=receipt_file.parent,
        mirror=os.environ.get("RNSHMC_DATA_MIRROR"),
        policy=snakemake.params.spec["policy"],
    )
    receipt.save(receipt_file)
