"""Posterior densities side by side, samplers laid over one another (paper B, Figs. 7 and 9)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.style import WIDTH, SamplerStyle, coordinate_label, mark_origin, theme, variant_styles
from rnshmc.results.estimates import BASELINE

REACH = 2.5
"""Widths of HMC's density on either side of it, at the most, in Fig. 9."""


def marginal_panels(table: pd.DataFrame, title: str) -> Figure:
    """Posterior densities of coefficients side by side, samplers laid over one another, exact HMC as an area (Fig. 9).

    Some are so much wider than others that each is drawn relative to its peak, and around HMC's only.

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.single_marginals`.
    title
        Title of the figure.
    """
    peaks = table.groupby(["sampler", "x_coordinate"])["density"].transform("max")
    figure, axes = _panels(table.assign(density=table["density"] / peaks), title)
    for number, ax in axes.items():
        ax.set_xlabel(coordinate_label(number, r"\beta"))
        ax.set_xlim(*_around_baseline(table[table["x_coordinate"] == number]))
    next(iter(axes.values())).set_ylabel("posterior density / its peak")
    return figure


def hyperparameters(table: pd.DataFrame, title: str) -> Figure:
    """Posterior densities of the length scale and the noise variance of a Gaussian process regression (Fig. 7).

    Parameters
    ----------
    table, title
        As in `marginal_panels`.
    """
    figure, axes = _panels(table, title)
    for number, name in {1: "length scale $l$", 2: r"noise variance $\sigma^2$"}.items():
        axes[number].set_xlabel(name)
    axes[1].set_ylabel("posterior density")
    return figure


def _panels(table: pd.DataFrame, title: str) -> tuple[Figure, dict[int, Axes]]:
    """A panel for each coordinate, by its number."""
    coordinates = [int(number) for number in table["x_coordinate"].unique()]
    styles = variant_styles(table["sampler"])
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        axes = dict(zip(coordinates, figure.subplots(1, len(coordinates), squeeze=False)[0], strict=True))
        for number, ax in axes.items():
            part = table[table["x_coordinate"] == number]
            for sampler, style in styles.items():
                _density(ax, part[part["sampler"] == sampler], style, filled=sampler == BASELINE)
            ax.set_ylim(bottom=0)
            ax.locator_params(axis="x", nbins=6)
        handles = [Line2D([], [], **style.drawing, label=style.label) for style in styles.values()]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        figure.suptitle(title)
        mark_origin(figure, str(table["data"].iloc[0]))
    return figure, axes


def _around_baseline(part: pd.DataFrame) -> tuple[float, float]:
    """Where all densities are, but no farther from HMC's than `REACH` times its width."""
    exact = part.loc[part["sampler"] == BASELINE, "x"]
    room = REACH * (exact.max() - exact.min())
    return max(part["x"].min(), exact.min() - room), min(part["x"].max(), exact.max() + room)


def _density(ax: Axes, curve: pd.DataFrame, style: SamplerStyle, *, filled: bool) -> None:
    ax.plot(curve["x"], curve["density"], **style.drawing, linewidth=1.4)
    if filled:
        ax.fill_between(curve["x"], np.zeros(len(curve)), curve["density"], color=style.colour, alpha=0.12, linewidth=0)
