"""Make a processed data set: prepared from raw files, simulated, projected, or a subset of another set's rows."""

from pathlib import Path

from rnshmc.datasets.registry import load
from rnshmc.random import stream
from rnshmc.run.job import job

spec = snakemake.params.spec

with job(snakemake.log[0]):
    files = map(Path, snakemake.input.get("files", []))
    rng = stream(spec["seed"], *spec["stream"])
    load(spec["entry"])(*files, **spec["settings"], rng=rng).save(snakemake.output.data)
