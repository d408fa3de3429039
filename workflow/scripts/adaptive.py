"""The tables of the adaptive experiment: acceptance by training points, error of the mean by running time."""

from rnshmc.results.adaptation import acceptance_by_training, error_by_time
from rnshmc.results.metrics import read_metrics
from rnshmc.results.timings import all_timings
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain

with job(snakemake.log[0]):
    metrics = read_metrics(snakemake.input.metrics)
    timings = all_timings(snakemake.input.timing, metrics)
    exact = [chain for chain in metrics if chain.sampler == "hmc"]
    fig7 = acceptance_by_training(map(read_chain, snakemake.input.chains), exact)
    fig7.to_csv(snakemake.output.fig7, index=False, float_format="%.6g")
    error_by_time(metrics, timings).to_csv(snakemake.output.fig8, index=False, float_format="%.6g")
