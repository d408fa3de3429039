"""Simulated data for logistic regression in many dimensions."""

from typing import TYPE_CHECKING

from rnshmc.datasets.synthetic import simulate_normal_logistic
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    rng = stream(spec["seed"], "lr_200", "data")
    simulate_normal_logistic(spec["observations"], spec["dimension"], rng).save(snakemake.output.data)
