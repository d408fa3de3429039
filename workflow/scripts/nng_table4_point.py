"""Cells of paper B's Table 4: one sampler in one dimension, with training sets of every size."""

from typing import TYPE_CHECKING

from rnshmc.experiments.network_gp import NetworkComparison, comparison_rows
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    comparison = NetworkComparison(seed=spec["seed"], **spec["settings"])
    comparison_rows(comparison, **spec["point"]).to_csv(snakemake.output.point, index=False, float_format="%.6g")
