"""Traces of the draws of one problem."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rnshmc.plots.coordinates import coordinate_name
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import no_chain
from rnshmc.plots.style import WIDTH, mark_origin, plain, sampler_style, theme
from rnshmc.results.marginals import selected_coordinates
from rnshmc.results.posterior import ProblemChains

SHOWN = 500
"""Iterations of a trace: in thousands of them, a panel is a filled band."""


def traces(chains: ProblemChains, target: Mapping[str, Any], title: str) -> Figure:
    """Trace of the last `SHOWN` draws of the first chain of each sampler.

    Panels of a sampler without Markov chains say so.

    Parameters
    ----------
    chains
        Chains of one problem.
    target
        The config's entry of the target, by which coordinates are named.
    title
        Title of the figure.
    """
    coordinates = selected_coordinates(chains.dim)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.6 + 1.05 * len(coordinates)), layout="constrained")
        axes = figure.subplots(len(coordinates), len(chains.chains), sharex=True, sharey="row", squeeze=False)
        for column, sampler in zip(axes.T, chains.chains, strict=True):
            style, markov = sampler_style(sampler), chains.markov(sampler)
            column[0].set_title(style.label)
            for ax, coordinate in zip(column, coordinates, strict=True):
                if not markov:
                    no_chain(ax)
                    continue
                values = markov[0][-SHOWN:, coordinate]
                ax.plot(np.arange(-len(values), 0), values, color=style.colour, linewidth=0.5, rasterized=True)
        for ax, coordinate in zip(axes[:, 0], coordinates, strict=True):
            ax.set_ylabel(coordinate_name(target, coordinate + 1))
        figure.supxlabel("iteration, counted from the end of the chain", size="medium")
        figure.suptitle(plain(title))
        mark_origin(figure, chains.origin)
        return figure


FIGURE = Drawing(
    name="traces",
    title="Traces",
    draw=traces,
    reads=("chains",),
    page="problem",
    caption="The last 500 kept draws of the first chain of each sampler on {{ problem }}.",
)
