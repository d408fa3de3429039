"""The figures of the draws of one problem."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.plots.chains import autocorrelations, traces
from rnshmc.plots.comparison import acceptance
from rnshmc.plots.marginals import marginals
from rnshmc.plots.style import save
from rnshmc.results.marginals import marginal_table, selected_coordinates
from rnshmc.results.metrics import metrics_frame, read_metrics
from rnshmc.results.posterior import ProblemChains
from rnshmc.results.tables import read_results
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

title = snakemake.params.spec["title"]
titles = {snakemake.wildcards.problem: title}

with job(snakemake.log[0]):
    chains = ProblemChains.read(map(Path, snakemake.input.chains))
    paper = read_results(Path(snakemake.input.paper))
    coordinates = selected_coordinates(chains.dim)
    figures = {
        "traces": traces(chains, coordinates, title),
        "marginals": marginals(marginal_table(chains, coordinates), title),
        "autocorrelation": autocorrelations(chains, title),
        "acceptance": acceptance(metrics_frame(read_metrics(snakemake.input.metrics)), paper, titles),
    }
    for name, figure in figures.items():
        save(figure, Path(snakemake.output[name]), Path(snakemake.output[f"{name}_pdf"]))
