"""Tables of posteriors from mini-batch, exact and network gradients."""

from rnshmc.results.marginals import leading_coordinates
from rnshmc.results.network_posteriors import histogram_table, trace_table
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.job import job

with job(snakemake.log[0]):
    marginals = ProblemChains.read(snakemake.input.marginals)
    coordinates = leading_coordinates(marginals.draws("hmc"), 2)
    histogram_table(marginals, coordinates).to_csv(snakemake.output.fig9, index=False, float_format="%.6g")
    traces = trace_table(ProblemChains.read(snakemake.input.traces), coordinates[0])
    traces.to_csv(snakemake.output.fig10, index=False, float_format="%.6g")
