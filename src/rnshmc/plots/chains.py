"""Figures of the draws of one problem: traces, marginals, autocorrelation."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.diagnostics.ess import autocorrelation
from rnshmc.plots.density import Interval, content_levels, density, density2, support
from rnshmc.plots.style import WIDTH, coordinate_label, mark_stand_in, sampler_legend, sampler_style, theme
from rnshmc.store.posterior import ProblemChains
from rnshmc.types import Array

MAX_LAG = 40


def selected_coordinates(dim: int, count: int = 5) -> list[int]:
    """Coordinates spread over all: 1, 11, 21, 31, 41 (counted from 1) of 50, as in paper A's Fig. 6."""
    chosen = min(count, dim)
    return [k * (dim // chosen) for k in range(chosen)]


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
            column[-1].set_xlabel("iteration (exploration in grey)")
            for ax, coordinate in zip(column, coordinates, strict=True):
                if first.warmup is not None:
                    ax.plot(first.warmup[:, coordinate], color="#b8b8b8", linewidth=0.5, rasterized=True)
                iterations = explored + np.arange(len(first.draws))
                ax.plot(iterations, first.draws[:, coordinate], color=style.colour, linewidth=0.4, rasterized=True)
                ax.axvline(explored, color="#777777", linewidth=0.8, linestyle=":")
        for ax, coordinate in zip(axes[:, 0], coordinates, strict=True):
            ax.set_ylabel(coordinate_label(coordinate))
        figure.suptitle(title)
        mark_stand_in(figure, chains.origin)
        return figure


def marginals(chains: ProblemChains, coordinates: Sequence[int], title: str) -> Figure:
    """One- and two-dimensional posterior marginals of all samplers, laid over one another (paper A, Fig. 6).

    Contours hold 50% and 90% of the posterior. Densities are histograms smoothed by a Gaussian of Scott's width.
    """
    pooled = {sampler: chains.draws(sampler).reshape(-1, chains.dim) for sampler in chains.chains}
    intervals = [support(draws[:, coordinate] for draws in pooled.values()) for coordinate in coordinates]
    count = len(coordinates)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 * WIDTH + 0.6), layout="constrained")
        axes = figure.subplots(count, count, squeeze=False, sharex="col")
        for i, row in enumerate(coordinates):
            for j, column in enumerate(coordinates[:i]):
                _joint_panel(axes[i, j], pooled, (column, row), (intervals[j], intervals[i]), labelled=j == 0)
            _marginal_panel(axes[i, i], pooled, row, intervals[i])
            for ax in axes[i, i + 1 :]:
                ax.set_axis_off()
            axes[i, 0].set_ylabel(coordinate_label(row) if i else "density")
            axes[-1, i].set_xlabel(coordinate_label(row))
        figure.align_ylabels(axes[:, 0])
        sampler_legend(figure, chains.chains)
        figure.suptitle(title)
        mark_stand_in(figure, chains.origin)
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
            ax.set_xlabel("lag (iterations)")
        axes[0].set_ylabel("autocorrelation")
        figure.suptitle(title)
        mark_stand_in(figure, chains.origin)
        return figure


def _marginal_panel(ax: Axes, pooled: Mapping[str, Array], coordinate: int, interval: Interval) -> None:
    for sampler, draws in pooled.items():
        ax.plot(*density(draws[:, coordinate], interval), **sampler_style(sampler).drawing, linewidth=1.3)
    ax.set(xlim=interval, yticks=[])
    _plain(ax, axis="x")


def _joint_panel(
    ax: Axes,
    pooled: Mapping[str, Array],
    coordinates: tuple[int, int],
    intervals: tuple[Interval, Interval],
    *,
    labelled: bool,
) -> None:
    for sampler, draws in pooled.items():
        style = sampler_style(sampler)
        x, y, heights = density2(draws[:, coordinates[0]], draws[:, coordinates[1]], *intervals)
        levels = np.unique(content_levels(heights))
        ax.contour(x, y, heights.T, levels=levels, colors=style.colour, linestyles=[style.line], linewidths=1.1)
    ax.set(xlim=intervals[0], ylim=intervals[1])
    _plain(ax, axis="both")
    ax.tick_params(labelleft=labelled)


def _plain(ax: Axes, axis: Literal["x", "both"]) -> None:
    """A small panel: few ticks, small labels, no grid."""
    ax.grid(visible=False)
    ax.locator_params(axis=axis, nbins=3)
    ax.tick_params(labelsize=7)
