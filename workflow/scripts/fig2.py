"""HMC and RNS-HMC on a banana-shaped posterior, drawn from their tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.style import save
from rnshmc.plots.surrogate_figures import banana
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    figure = banana(*(pd.read_csv(snakemake.input[name]) for name in ("field", "trajectories", "acceptance")))
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
