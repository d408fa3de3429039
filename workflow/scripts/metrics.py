"""Measure the kept draws of one chain."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.metrics import chain_metrics

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    chain = read_chain(Path(snakemake.input.chain))
    with np.load(snakemake.input.reference, allow_pickle=False) as reference:
        reference_mean = reference["mean"]
    metrics = chain_metrics(
        chain.draws,
        chain.stats,
        settings=chain.settings,
        phases=chain.phases,
        origin=chain.origin,
        surrogate=chain.phases.get("fit"),
        reference_mean=reference_mean,
    )
    metrics.write(Path(snakemake.output.metrics))
