"""The figures of the draws of one problem."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.plots.chains import autocorrelations, traces
from rnshmc.plots.marginals import marginals
from rnshmc.plots.style import save
from rnshmc.run.job import job
from rnshmc.store.marginals import marginal_table, selected_coordinates
from rnshmc.store.posterior import ProblemChains

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

title = snakemake.params.spec["title"]

with job(snakemake.log[0]):
    chains = ProblemChains.read(map(Path, snakemake.input.chains))
    coordinates = selected_coordinates(chains.dim)
    figures = {
        "traces": traces(chains, coordinates, title),
        "marginals": marginals(marginal_table(chains, coordinates), title),
        "autocorrelation": autocorrelations(chains, title),
    }
    for name, figure in figures.items():
        save(figure, Path(snakemake.output[name]), Path(snakemake.output[f"{name}_pdf"]))
