"""Traces of the draws of one problem, and their autocorrelation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.diagnostics.ess import autocorrelation
from rnshmc.plots.coordinates import coordinate_name
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import PAPER, WIDTH, sampler_style, with_title
from rnshmc.results.marginals import selected_coordinates
from rnshmc.results.posterior import ProblemChains

SHOWN = 500
"""Iterations of a trace: in thousands of them, a panel is a filled band."""
MAX_LAG = 40


def traces(chains: ProblemChains, target: Mapping[str, Any], title: str) -> Figure:
    """Draw the last draws of the first chain of each sampler; `target`, the config's entry, names the coordinates."""
    coordinates = selected_coordinates(chains.dim)
    figure = Figure(figsize=(WIDTH, 0.6 + 1.05 * len(coordinates)), layout="constrained")
    axes = figure.subplots(len(coordinates), len(chains.chains), sharex=True, sharey="row", squeeze=False)
    for column, sampler in zip(axes.T, chains.chains, strict=True):
        style, markov = sampler_style(sampler), chains.markov(sampler)
        column[0].set_title(style.lines)
        for ax, coordinate in zip(column, coordinates, strict=True):
            if not markov:
                _no_chain(ax)
                continue
            values = markov[0][-SHOWN:, coordinate]
            ax.plot(np.arange(-len(values), 0), values, color=style.colour, linewidth=0.5, rasterized=True)
    for ax, coordinate in zip(axes[:, 0], coordinates, strict=True):
        ax.set_ylabel(coordinate_name(target, coordinate + 1))
    figure.supxlabel("iteration, counted from the end of the chain", size="medium")
    return with_title(figure, title, chains.origin)


def _no_chain(ax: Axes) -> None:
    """Say in a panel that a sampler has no Markov chain to show there."""
    ax.text(0.5, 0.5, "no Markov chain", ha="center", va="center", transform=ax.transAxes, color=PAPER, size="small")


TRACES = Drawing(
    name="traces",
    title="Traces",
    draw=traces,
    reads=("chains",),
    page="problem",
    caption="The last 500 kept draws of the first chain of each sampler on {{ problem }}.",
)


def autocorrelations(chains: ProblemChains, title: str) -> Figure:
    """Draw the median and range over the coordinates of the autocorrelation, averaged over chains."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.subplots(1, len(chains.chains), sharex=True, sharey=True, squeeze=False)[0]
    for ax, sampler in zip(axes, chains.chains, strict=True):
        style = sampler_style(sampler)
        ax.set_title(style.lines)
        if not (markov := chains.markov(sampler)):
            _no_chain(ax)
            continue
        rho = np.mean([autocorrelation(chain)[: MAX_LAG + 1] for chain in markov], axis=0)
        lags = np.arange(len(rho))
        ax.fill_between(lags, rho.min(axis=1), rho.max(axis=1), color=style.colour, alpha=0.2, linewidth=0)
        ax.plot(lags, np.median(rho, axis=1), **style.drawing)
        ax.axhline(0, color="#777777", linewidth=0.8)
    figure.supxlabel("lag (iterations)", size="medium")
    axes[0].set_ylabel("autocorrelation")
    return with_title(figure, title, chains.origin)


AUTOCORRELATION = Drawing(
    name="autocorrelation",
    title="Autocorrelation",
    draw=autocorrelations,
    reads=("chains",),
    page="problem",
    caption="Of the kept draws on {{ problem }}, averaged over chains: the median of the coordinates, shaded from the "
    "least to the most correlated one.",
)
