"""Traces of the draws of one problem."""

import numpy as np
from matplotlib.figure import Figure

from rnshmc.plots.style import WIDTH, coordinate_label, mark_origin, sampler_style, theme
from rnshmc.results.marginals import selected_coordinates
from rnshmc.results.posterior import ProblemChains


def traces(chains: ProblemChains, title: str) -> Figure:
    """Trace of the first chain of each sampler: the exploration in grey, then the kept draws."""
    coordinates = selected_coordinates(chains.dim)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.6 + 1.05 * len(coordinates)), layout="constrained")
        axes = figure.subplots(len(coordinates), len(chains.chains), sharex=True, sharey="row", squeeze=False)
        for column, (sampler, members) in zip(axes.T, chains.chains.items(), strict=True):
            style = sampler_style(sampler)
            first = members[0]
            explored = 0 if first.warmup is None else len(first.warmup)
            column[0].set_title(style.label)
            for ax, coordinate in zip(column, coordinates, strict=True):
                if first.warmup is not None:
                    ax.plot(first.warmup[:, coordinate], color="#b8b8b8", linewidth=0.5, rasterized=True)
                iterations = explored + np.arange(len(first.draws))
                ax.plot(iterations, first.draws[:, coordinate], color=style.colour, linewidth=0.4, rasterized=True)
                ax.axvline(explored, color="#777777", linewidth=0.8, linestyle=":")
        for ax, coordinate in zip(axes[:, 0], coordinates, strict=True):
            ax.set_ylabel(coordinate_label(coordinate + 1))
        figure.supxlabel("iteration (exploration in grey)", size="medium")
        figure.suptitle(title)
        mark_origin(figure, chains.origin)
        return figure
