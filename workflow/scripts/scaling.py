"""Seconds and speed-up over the number of ranks, drawn from their table."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.scaling import scaling
from rnshmc.plots.style import save
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    figure = scaling(pd.read_csv(snakemake.input.table))
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
