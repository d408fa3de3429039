"""Gradient networks at work: other priors, designs, posteriors, predictions, traces (paper B, Figs. 4 to 10)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.style import (
    INK,
    WIDTH,
    SamplerStyle,
    coordinate_label,
    log_axis,
    mark_origin,
    sampler_style,
    theme,
    variant_styles,
)
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

PRIORS = (("#9ecae1", "o"), ("#b2182b", "^"))
"""Colour and marker of the draws under each prior, the wider one first: light and dark in grey."""
DESIGNS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "large": ("#1f2933", ()),
    "small": ("#d55e00", (4, 1.5)),
    "blocks": ("#0072b2", (1.2, 1.2)),
}
"""Colour and dashes of the networks that paper B compares."""
BAND_ALPHA = 0.22
REACH = 2.5
"""Widths of HMC's density on either side of it, at the most, in Fig. 9."""


def prior_swap(draws: pd.DataFrame, acceptance: pd.DataFrame, title: str) -> Figure:
    """Draws of two coefficients under the prior of the training and under a narrower one, a panel per sampler (Fig. 4).

    Parameters
    ----------
    draws, acceptance
        `rnshmc.experiments.prior_swap.draws_table` and `acceptance_table`.
    title
        Title of the figure.
    """
    samplers = in_order(draws["sampler"])
    variances = sorted(draws["prior_variance"].unique(), reverse=True)
    rates = acceptance.set_index(["sampler", "prior_variance"])["acceptance"]
    x, y = (coordinate_label(int(draws[f"{axis}_coordinate"].iloc[0]), r"\beta") for axis in "xy")
    with theme():
        figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
        axes = figure.subplots(1, len(samplers), sharex=True, sharey=True, squeeze=False)[0]
        for ax, sampler in zip(axes, samplers, strict=True):
            for variance, (colour, marker) in zip(variances, PRIORS, strict=True):
                part = draws[(draws["sampler"] == sampler) & (draws["prior_variance"] == variance)]
                label = f"prior variance {variance:g}: acceptance {rates[sampler, variance]:.2f}"
                drawing = {"color": colour, "marker": marker, "markeredgecolor": INK, "markeredgewidth": 0.25}
                ax.plot(part["x"], part["y"], linestyle="", markersize=3.2, label=label, **drawing, rasterized=True)
            ax.set(title=sampler_style(sampler).label, xlabel=x)
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), markerscale=1.6)
        axes[0].set_ylabel(y)
        figure.suptitle(title)
        return figure


def training_losses(table: pd.DataFrame, title: str) -> Figure:
    """Training loss of networks of several designs: mean over the chains, shaded from least to most (Fig. 5).

    Parameters
    ----------
    table
        `rnshmc.experiments.network_designs.training_losses` of each chain, one below the other.
    title
        Title of the figure.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        ax = figure.subplots()
        for network in table["network"].unique():
            part = table[table["network"] == network]
            colour, dashes = DESIGNS[network]
            by_epoch = part.groupby("epoch")["loss"]
            mean = by_epoch.mean()
            label = f"{network}: {part['weights'].iloc[0]:,} weights".replace(",", " ")
            ax.plot(mean.index, mean, color=colour, dashes=dashes, linewidth=1.6, label=label)
            ax.fill_between(mean.index, by_epoch.min(), by_epoch.max(), color=colour, alpha=BAND_ALPHA, linewidth=0)
        ax.set(xlabel="epoch", ylabel="training loss (standardised)", yscale="log")
        log_axis(ax.yaxis)
        ax.legend()
        figure.suptitle(title)
        return figure


def series(table: pd.DataFrame, title: str) -> Figure:
    """A time series (Fig. 6): columns t and y."""
    with theme():
        figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
        ax = figure.subplots()
        ax.plot(table["t"], table["y"], color=INK, linewidth=0.6)
        ax.set(xlabel="observation $t$", ylabel="$y_t$", xlim=(table["t"].min(), table["t"].max()))
        figure.suptitle(title)
        return figure


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


def predictions(table: pd.DataFrame, title: str) -> Figure:
    """Predicted mean of a process along a line, and the band that holds it with probability 0.9 (Fig. 8).

    Parameters
    ----------
    table
        `rnshmc.experiments.predictions.predictions`.
    title
        Title of the figure.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        ax = figure.subplots()
        for sampler in in_order(table["sampler"]):
            part, style = table[table["sampler"] == sampler], sampler_style(sampler)
            ax.fill_between(part["x"], part["low"], part["high"], color=style.colour, alpha=BAND_ALPHA, linewidth=0)
            for edge in ("low", "high"):
                ax.plot(part["x"], part[edge], **style.drawing, linewidth=0.7)
            ax.plot(part["x"], part["mean"], **style.drawing, linewidth=1.6, label=style.label)
        ax.set(xlabel="$x_1$ (the other inputs 0)", ylabel="$f(x)$: mean and 90% band")
        ax.margins(x=0)
        ax.legend()
        figure.suptitle(title)
        return figure


def trace_rows(table: pd.DataFrame, title: str) -> Figure:
    """Traces of one coefficient, a row for each sampler, on the same axes (Fig. 10).

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.trace_table`.
    title
        Title of the figure.
    """
    samplers = in_order(table["sampler"])
    with theme():
        figure = Figure(figsize=(WIDTH, 0.7 + 1.6 * len(samplers)), layout="constrained")
        axes = figure.subplots(len(samplers), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for ax, sampler in zip(axes, samplers, strict=True):
            part, style = table[table["sampler"] == sampler], sampler_style(sampler)
            ax.plot(part["iteration"], part["value"], color=style.colour, linewidth=0.6, rasterized=True)
            ax.set(title=style.label, ylabel=coordinate_label(int(part["coordinate"].iloc[0]), r"\beta"))
            ax.margins(x=0)
        axes[-1].set_xlabel("iteration")
        figure.suptitle(title)
        mark_origin(figure, str(table["data"].iloc[0]))
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
