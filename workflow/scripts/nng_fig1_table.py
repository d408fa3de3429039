"""Run a chain by a schedule of training, and tabulate its seconds by draws with HMC's."""

from pathlib import Path

from rnshmc.experiments.training_schedule import schedule_table
from rnshmc.run.job import job
from rnshmc.run.phases import start_point
from rnshmc.run.registry import load_target

spec = snakemake.params.spec

with job(snakemake.log[0]):
    target = load_target(spec["target"], Path(snakemake.input.data))
    table = schedule_table(target, start=start_point(spec, target.dim), seed=spec["seed"], **spec["experiment"])
    table.to_csv(snakemake.output.table, index=False, float_format="%.6g")
