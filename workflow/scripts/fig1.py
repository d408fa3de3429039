"""Surrogates of a parabola, drawn from their tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.style import save
from rnshmc.plots.surrogate_figures import one_dimension
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    figure = one_dimension(pd.read_csv(snakemake.input.points), pd.read_csv(snakemake.input.curves))
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
