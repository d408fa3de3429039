"""Posterior marginals by HMC and by RNS-HMC, as a table."""

from rnshmc.results.marginals import marginal_table, selected_coordinates
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.job import job

with job(snakemake.log[0]):
    chains = ProblemChains.read(snakemake.input.chains)
    table = marginal_table(chains, selected_coordinates(chains.dim))
    table.to_csv(snakemake.output.fig6, index=False, float_format="%.6g")
