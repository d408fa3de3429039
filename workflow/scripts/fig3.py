"""Training time, acceptance and efficiency on a Gaussian in many dimensions, drawn from their table."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.style import save
from rnshmc.plots.surrogate_figures import gaussian_sweep
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    figure = gaussian_sweep(pd.read_csv(snakemake.input.table))
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
