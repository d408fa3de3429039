"""HMC and NNg-HMC on a banana-shaped distribution, drawn from their tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.network_experiments import network_banana
from rnshmc.plots.style import save
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    tables = (pd.read_csv(snakemake.input[name]) for name in ("field", "draws", "trajectories", "acceptance"))
    save(network_banana(*tables), Path(snakemake.output.figure), Path(snakemake.output.pdf))
