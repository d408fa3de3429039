"""Figures 4 and 5 of paper A, from their tidy tables alone."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.style import save
from rnshmc.plots.sweep import acceptance_sweep
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    for name, cuts in snakemake.params.spec["cuts"].items():
        figure = acceptance_sweep(pd.read_csv(snakemake.input[name]), name, cuts)
        save(figure, Path(snakemake.output[name]), Path(snakemake.output[f"{name}_pdf"]))
