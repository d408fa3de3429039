"""HMC and NNg-HMC on an ill-conditioned Gaussian, drawn from their tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.network_experiments import network_gaussian
from rnshmc.plots.style import save
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    tables = (pd.read_csv(snakemake.input[name]) for name in ("draws", "acceptance"))
    figure = network_gaussian(*tables, smallest=spec["smallest"], largest=spec["largest"])
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
