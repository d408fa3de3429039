"""Training losses of gradient networks of several designs on the gradients of each exploration."""

import pandas as pd

from rnshmc.experiments.network_designs import training_losses
from rnshmc.run.job import job
from rnshmc.run.recording import GradientPairs
from rnshmc.store.chains import read_chain

spec = snakemake.params.spec

with job(snakemake.log[0]):
    parts = []
    for number, (chain, path) in enumerate(zip(snakemake.input.chain, snakemake.input.gradients, strict=True), start=1):
        stats = read_chain(chain).stats
        pairs = GradientPairs.load(path).between(*spec["iterations"]).of_sound_trajectories(stats)
        parts.append(training_losses(pairs.q, pairs.gradients, seed=spec["seed"], chain=number, **spec["experiment"]))
    pd.concat(parts).to_csv(snakemake.output.table, index=False, float_format="%.6g")
