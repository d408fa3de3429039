"""Training losses of gradient networks of several designs, on the gradients of each exploration."""

from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.experiments.network_designs import training_losses
from rnshmc.run.job import job
from rnshmc.run.recording import GradientPairs

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    parts = []
    for number, path in enumerate(snakemake.input.gradients, start=1):
        pairs = GradientPairs.load(path).between(*spec["iterations"])
        parts.append(training_losses(pairs.q, pairs.gradients, seed=spec["seed"], chain=number, **spec["experiment"]))
    pd.concat(parts).to_csv(snakemake.output.table, index=False, float_format="%.6g")
