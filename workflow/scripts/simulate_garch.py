"""A simulated GARCH series."""

from typing import TYPE_CHECKING

from rnshmc.datasets.synthetic import simulate_garch
from rnshmc.random import stream
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    rng = stream(spec["seed"], "garch", "data")
    simulate_garch(spec["observations"], alpha=spec["alpha"], beta=spec["beta"], rng=rng).save(snakemake.output.data)
