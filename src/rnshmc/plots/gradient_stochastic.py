"""Histograms and traces of coefficients by several samplers (paper B, Figs. 9 and 10)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, coefficient_label, sampler_style, variant_styles, with_title
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import base_sampler, in_order, sampler_label

UNCORRECTED = "sghmc"
"""The sampler without a Metropolis step, whose histograms can be many times as wide as the posterior."""
PADDING, MARGIN = 0.05, 0.06
"""Free space beside histograms, and above and below traces, as shares of their ranges."""


def coefficient_histograms(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 9 from a table of `rnshmc.results.network_posteriors.histogram_table`."""
    coordinates = [int(number) for number in table["coordinate"].unique()]
    rows = [sampler for sampler in in_order(table["sampler"]) if sampler != BASELINE]
    figure = Figure(figsize=(WIDTH, 0.7 + 0.95 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(coordinates), sharex="col", sharey=True, squeeze=False)
    for column, number in zip(axes.T, coordinates, strict=True):
        part = table[table["coordinate"] == number]
        for ax, sampler in zip(column, rows, strict=True):
            exact, colour = sampler_style(BASELINE).colour, sampler_style(sampler).colour
            _histogram(ax, part[part["sampler"] == BASELINE], fill=True, color=exact, alpha=0.2)
            # Solid, and variants in one colour: each row has one sampler, and dashes would hide the steps.
            _histogram(ax, part[part["sampler"] == sampler], color=colour, linewidth=1.2)
            ax.set(xlim=_place(part), yscale="log")
        column[-1].locator_params(axis="x", nbins=6)
        column[-1].set_xlabel(coefficient_label(number))
    for ax, sampler in zip(axes[:, 0], rows, strict=True):
        ax.set_title(f"{sampler_label(sampler)}, over {sampler_label(BASELINE)} in grey", size=8.8)
    figure.supylabel("posterior density", size="medium")
    return with_title(figure, title, str(table["data"].iloc[0]))


def _histogram(ax: Axes, bins: pd.DataFrame, **look: Any) -> None:
    if len(bins):
        ax.stairs(bins["density"], np.append(bins["low"], bins["high"].iloc[-1]), **look)


def _place(bins: pd.DataFrame) -> tuple[float, float]:
    """Limits of an axis that contains the histograms of all samplers that leave the posterior invariant, and the
    narrowest of the others."""
    ends = bins.groupby("sampler").agg(low=("low", "min"), high=("high", "max"))
    approximate = ends.index.map(base_sampler) == UNCORRECTED
    widths = (ends["high"] - ends["low"]).where(approximate)
    kept = ends[~approximate | (widths == widths.min())]
    low, high = kept["low"].min(), kept["high"].max()
    return low - PADDING * (high - low), high + PADDING * (high - low)


FIG9 = Drawing(
    name="nng_fig9",
    title="Distributions sampled by HMC, NNg-HMC and SGHMC (paper B, Fig. 9)",
    draw=coefficient_histograms,
    reads=("nng_fig9",),
    page="gradient_stochastic",
    problem="cover_type",
    caption="Histograms of the draws of two coefficients, on a logarithmic scale, of the logistic regression on Cover "
    "Type with a Laplace prior, a row for each sampler over HMC in grey: NNg-HMC, which samples the posterior, and "
    'SGHMC without correction at leapfrog steps of {% for name, entry in samplers.items() if "friction" in entry %}{{ '
    '", " if not loop.first }}{{ entry.step_size }} ({{ name | replace("sghmc_", "") }}){% endfor %}; their squares '
    "are what the paper calls step sizes. The axis is wide enough for the narrowest histogram of SGHMC; the others "
    "extend beyond it. The two coefficients are those with the largest absolute posterior means by HMC.",
)


def trace_rows(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 10 from a table of `rnshmc.results.network_posteriors.trace_table`."""
    styles = variant_styles(table["sampler"])
    corrected = table.loc[table["sampler"].map(base_sampler) != UNCORRECTED, "value"]
    figure = Figure(figsize=(WIDTH, 0.7 + 1.3 * len(styles)), layout="constrained")
    axes = figure.subplots(len(styles), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (sampler, style) in zip(axes, styles.items(), strict=True):
        part = table[table["sampler"] == sampler]
        ax.plot(part["iteration"], part["value"], color=style.colour, linewidth=0.6, rasterized=True)
        ax.margins(x=0, y=MARGIN)
        if base_sampler(sampler) == UNCORRECTED:
            ax.set_title(f"{style.label}: no Metropolis step")
        else:
            ax.set_title(f"{style.label}: acceptance {part['acceptance'].iloc[0]:.2f}")
            ax.update_datalim([(1, corrected.min()), (1, corrected.max())])
            ax.autoscale_view()
        ax.set_ylabel(coefficient_label(int(part["coordinate"].iloc[0])))
    axes[-1].set_xlabel("iteration")
    return with_title(figure, title, str(table["data"].iloc[0]))


FIG10 = Drawing(
    name="nng_fig10",
    title="Traces by NNg-HMC and SGHMC (paper B, Fig. 10)",
    draw=trace_rows,
    reads=("nng_fig10",),
    page="gradient_stochastic",
    problem="cover_type",
    caption="Traces of a coefficient of the logistic regression on Cover Type by NNg-HMC, by SGHMC with "
    "Metropolis-Hastings correction, and by SGHMC without correction: the first chain of each, for the number "
    "of iterations that all have. Titles give the acceptance. Without correction the chain moves much "
    "farther, so its axis has another scale. The coefficient is the first of Fig. 9.",
)
