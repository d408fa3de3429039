"""Tables of the posteriors of a Gaussian process regression's hyperparameters, and of its predictions."""

from pathlib import Path

from rnshmc.experiments.predictions import predictions
from rnshmc.results.network_posteriors import exponentials, single_marginals
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.job import job
from rnshmc.targets.checks import read_arrays
from rnshmc.targets.gp_regression import from_file

with job(snakemake.log[0]):
    chains = ProblemChains.read(snakemake.input.chains)
    marginals = single_marginals(exponentials(chains), range(chains.dim))
    marginals.to_csv(snakemake.output.fig7, index=False, float_format="%.6g")
    data = Path(snakemake.input.data)
    target = from_file(data, prior_sd=snakemake.params.spec["target"]["prior_sd"])
    draws = {sampler: chains.draws(sampler) for sampler in chains.chains}
    table = predictions(target, draws, inputs=read_arrays(data, "X")[0].shape[1])
    table.to_csv(snakemake.output.fig8, index=False, float_format="%.6g")
