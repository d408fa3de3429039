"""Posterior marginals by HMC and by RNS-HMC, drawn from their table."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.marginals import marginals
from rnshmc.plots.style import save
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    figure = marginals(pd.read_csv(snakemake.input.fig6), snakemake.params.spec["title"], symbol=r"\beta")
    save(figure, Path(snakemake.output.fig6), Path(snakemake.output.pdf))
