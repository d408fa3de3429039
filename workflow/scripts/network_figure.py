"""One of Figs. 4 to 10 of paper B, drawn from its tables."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots import network_figures
from rnshmc.plots.style import save
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

DRAW: Mapping[str, Callable[..., Figure]] = {
    "nng_fig4": network_figures.prior_swap,
    "nng_fig5": network_figures.training_losses,
    "nng_fig6": network_figures.series,
    "nng_fig7": network_figures.hyperparameters,
    "nng_fig8": network_figures.predictions,
    "nng_fig9": network_figures.marginal_panels,
    "nng_fig10": network_figures.trace_rows,
}
spec = snakemake.params.spec

with job(snakemake.log[0]):
    figure = DRAW[spec["figure"]](*map(pd.read_csv, snakemake.input.tables), spec["title"])
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
