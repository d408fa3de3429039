"""Simulated inputs and outputs for Gaussian process regression."""

from typing import TYPE_CHECKING

from rnshmc.datasets.synthetic import simulate_regression
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    rng = stream(spec["seed"], "gp_regression", "data")
    simulate_regression(spec["observations"], noise_sd=spec["noise_sd"], rng=rng).save(snakemake.output.data)
