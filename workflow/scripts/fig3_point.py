"""One point of Fig. 3: a sampler with training sets of one size on a Gaussian in many dimensions, all repeats."""

from typing import TYPE_CHECKING

from rnshmc.experiments.gaussian_sweep import GaussianSweep, sweep_point
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    sweep = GaussianSweep(seed=spec["seed"], **spec["settings"])
    sweep_point(sweep, **spec["point"]).to_csv(snakemake.output.point, index=False, float_format="%.6g")
