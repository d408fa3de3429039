"""Run HMC and NNg-HMC under another prior, for comparison with the prior of the training."""

from pathlib import Path

import numpy as np

from rnshmc.experiments.prior_swap import Kept, PriorSwap, acceptance_table, draws_table, swap_prior
from rnshmc.results.marginals import leading_coordinates
from rnshmc.run.job import job
from rnshmc.run.registry import load_driver, load_target
from rnshmc.store.chains import read_chain

spec = snakemake.params.spec

with job(snakemake.log[0]):
    experiment = PriorSwap(seed=spec["seed"], **spec["experiment"])
    old = []
    for sampler in ("hmc", "nng_hmc"):
        chains = [read_chain(Path(path)) for path in snakemake.input[sampler]]
        acceptance = float(np.mean([chain.stats["accepted"] for chain in chains]))
        old.append(Kept(sampler, experiment.old_sd, np.concatenate([chain.draws for chain in chains]), acceptance))
    new = swap_prior(
        experiment,
        target=load_target({**spec["target"], "prior_sd": experiment.new_sd}, Path(snakemake.input.data)),
        network=load_driver(spec["surrogate"], Path(snakemake.input.network)),
        start=read_chain(Path(snakemake.input.exploration)).draws[-1],
        settings=spec["samplers"],
    )
    coordinates = leading_coordinates(old[0].draws, 2)
    draws = draws_table([*old, *new], coordinates)
    draws.to_csv(snakemake.output.draws, index=False, float_format="%.6g")
    acceptance_table([*old, *new], draws).to_csv(snakemake.output.acceptance, index=False, float_format="%.6g")
