"""Simulated data for logistic regression."""

from typing import TYPE_CHECKING

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    rng = stream(spec["seed"], "lr_simulated", "data")
    simulate_logistic(spec["observations"], spec["dimension"], rng).save(snakemake.output.data)
