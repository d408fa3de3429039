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

APPROACH = 0.2
"""First share of an exploration, which leads to the posterior."""
MARGIN = 0.08


def traces(chains: ProblemChains, target: Mapping[str, Any], title: str) -> Figure:
    """Trace of the first chain of each sampler: the exploration in grey, then the kept draws.

    Panels of a sampler without Markov chains say so.

    The axes show where chains are after the first part of their exploration: a start far away would squeeze the rest.

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
        for column, (sampler, members) in zip(axes.T, chains.chains.items(), strict=True):
            style = sampler_style(sampler)
            warmup, markov = members[0].warmup, chains.markov(sampler)
            explored = 0 if warmup is None else len(warmup)
            column[0].set_title(style.label)
            for ax, coordinate in zip(column, coordinates, strict=True):
                if not markov:
                    no_chain(ax)
                    continue
                if warmup is not None:
                    ax.plot(warmup[:, coordinate], color="#b8b8b8", linewidth=0.5, rasterized=True)
                iterations = explored + np.arange(len(markov[0]))
                ax.plot(iterations, markov[0][:, coordinate], color=style.colour, linewidth=0.4, rasterized=True)
                ax.axvline(explored, color="#777777", linewidth=0.8, linestyle=":")
        for ax, coordinate in zip(axes[:, 0], coordinates, strict=True):
            ax.set(ylabel=coordinate_name(target, coordinate + 1), ylim=_reach(chains, coordinate))
        figure.supxlabel("iteration (exploration in grey)", size="medium")
        figure.suptitle(plain(title))
        mark_origin(figure, chains.origin)
        return figure


def _reach(chains: ProblemChains, coordinate: int) -> tuple[float, float]:
    """Lowest and highest value of a coordinate without the beginnings of explorations, with a margin."""
    first = [members[0] for members in chains.chains.values()]
    explored = [chain.warmup[int(APPROACH * len(chain.warmup)) :] for chain in first if chain.warmup is not None]
    values = np.concatenate([part[:, coordinate] for part in (*explored, *(chain.draws for chain in first))])
    # A chain that never moved has no width.
    room = MARGIN * float(np.ptp(values)) or 1.0
    return float(values.min()) - room, float(values.max()) + room


FIGURE = Drawing(
    name="traces",
    title="Traces",
    draw=traces,
    reads=("chains",),
    page="problem",
    caption="The first chain of each sampler on {{ problem }}: the exploration by exact HMC in grey, then the kept "
    "draws. The first fifth of the exploration may lie outside the axes.",
)
