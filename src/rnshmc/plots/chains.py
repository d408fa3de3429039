"""Figures of the draws of one problem: traces and autocorrelation."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from rnshmc.diagnostics.ess import autocorrelation
from rnshmc.plots.style import WIDTH, coordinate_label, mark_origin, sampler_style, theme
from rnshmc.results.posterior import ProblemChains

MAX_LAG = 40


def traces(chains: ProblemChains, coordinates: Sequence[int], title: str) -> Figure:
    """Trace of the first chain of each sampler: the exploration in grey, then the kept draws."""
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


def autocorrelations(chains: ProblemChains, title: str) -> Figure:
    """Autocorrelation of the kept draws, averaged over chains: median of the coordinates, shaded from least to most."""
    with theme():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots(1, len(chains.chains), sharex=True, sharey=True, squeeze=False)[0]
        for ax, sampler in zip(axes, chains.chains, strict=True):
            style = sampler_style(sampler)
            rho = np.mean([autocorrelation(chain) for chain in chains.draws(sampler)], axis=0)[: MAX_LAG + 1]
            lags = np.arange(len(rho))
            ax.fill_between(lags, rho.min(axis=1), rho.max(axis=1), color=style.colour, alpha=0.2, linewidth=0)
            ax.plot(lags, np.median(rho, axis=1), **style.drawing)
            ax.axhline(0, color="#777777", linewidth=0.8)
            ax.set_title(style.label)
        figure.supxlabel("lag (iterations)", size="medium")
        axes[0].set_ylabel("autocorrelation")
        figure.suptitle(title)
        mark_origin(figure, chains.origin)
        return figure
