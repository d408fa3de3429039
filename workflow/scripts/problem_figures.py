"""The figures of the draws of one problem."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.plots.chains import autocorrelations, marginals, selected_coordinates, traces
from rnshmc.plots.style import save
from rnshmc.run.job import job
from rnshmc.store.posterior import ProblemChains

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

title = snakemake.params.spec["title"]

with job(snakemake.log[0]):
    chains = ProblemChains.read(map(Path, snakemake.input.chains))
    coordinates = selected_coordinates(chains.dim)
    figures = {
        "traces": traces(chains, coordinates, title),
        "marginals": marginals(chains, coordinates, title),
        "autocorrelation": autocorrelations(chains, title),
    }
    for name, figure in figures.items():
        save(figure, Path(snakemake.output[name]), Path(snakemake.output[f"{name}_pdf"]))
