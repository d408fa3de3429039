"""The tables of the adaptive experiment: acceptance by training points, error of the mean by running time."""

from pathlib import Path

from rnshmc.results.adaptation import acceptance_by_training, error_by_time
from rnshmc.results.metrics import read_metrics
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.timing import read_timings

with job(snakemake.log[0]):
    metrics = read_metrics(snakemake.input.metrics)
    timings = [timing for path in snakemake.input.timing for timing in read_timings(Path(path))]
    exact = [chain for chain in metrics if chain.sampler == "hmc"]
    fig7 = acceptance_by_training((read_chain(Path(path)) for path in snakemake.input.chains), exact)
    fig7.to_csv(snakemake.output.fig7, index=False, float_format="%.6g")
    error_by_time(metrics, timings).to_csv(snakemake.output.fig8, index=False, float_format="%.6g")
