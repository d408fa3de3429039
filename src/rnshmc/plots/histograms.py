"""Histograms of coefficients by several samplers (paper B, Fig. 9)."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, coordinate_label, mark_origin, plain, sampler_style, theme
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import base_sampler, in_order, sampler_label

APPROXIMATE = "sghmc"
"""The sampler whose histograms can be many times as wide as the posterior."""
MARGIN = 0.05


def coefficient_histograms(table: pd.DataFrame, title: str) -> Figure:
    """Histograms of each coefficient on a logarithmic scale: a row for each sampler, with that of exact HMC as an area.

    The axis contains the histograms of all samplers that leave the posterior invariant, and the narrowest of the
    others.

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.histogram_table`.
    title
        Title of the figure.
    """
    coordinates = [int(number) for number in table["coordinate"].unique()]
    rows = [sampler for sampler in in_order(table["sampler"]) if sampler != BASELINE]
    with theme():
        figure = Figure(figsize=(WIDTH, 0.7 + 0.95 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), len(coordinates), sharex="col", sharey=True, squeeze=False)
        for column, number in zip(axes.T, coordinates, strict=True):
            part = table[table["coordinate"] == number]
            for ax, sampler in zip(column, rows, strict=True):
                _exact(ax, part[part["sampler"] == BASELINE])
                _histogram(ax, part[part["sampler"] == sampler], sampler)
                ax.set(xlim=_place(part), yscale="log")
            column[-1].locator_params(axis="x", nbins=6)
            column[-1].set_xlabel(coordinate_label(number, r"\beta"))
        for ax, sampler in zip(axes[:, 0], rows, strict=True):
            ax.set_title(f"{sampler_label(sampler)}, over {sampler_label(BASELINE)} in grey", size=8.8)
        figure.supylabel("posterior density", size="medium")
        figure.suptitle(plain(title))
        mark_origin(figure, str(table["data"].iloc[0]))
        return figure


def _edges(bins: pd.DataFrame) -> npt.NDArray[np.float64]:
    return np.append(bins["low"].to_numpy(dtype=float), bins["high"].iloc[-1])


def _exact(ax: Axes, bins: pd.DataFrame) -> None:
    if len(bins):
        ax.stairs(bins["density"], _edges(bins), fill=True, color=sampler_style(BASELINE).colour, alpha=0.2)


def _histogram(ax: Axes, bins: pd.DataFrame, sampler: str) -> None:
    # Solid, and variants in one colour: each row has one sampler, and dashes would hide the steps.
    ax.stairs(bins["density"], _edges(bins), color=sampler_style(sampler).colour, linewidth=1.2)


def _place(bins: pd.DataFrame) -> tuple[float, float]:
    """Limits of the axis."""
    ends = bins.groupby("sampler").agg(low=("low", "min"), high=("high", "max"))
    approximate = ends.index.map(base_sampler) == APPROXIMATE
    widths = (ends["high"] - ends["low"]).where(approximate)
    kept = ends[~approximate | (widths == widths.min())]
    low, high = kept["low"].min(), kept["high"].max()
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


FIGURE = Drawing(
    name="nng_fig9",
    title="Distributions sampled by HMC, NNg-HMC and SGHMC (paper B, Fig. 9)",
    draw=coefficient_histograms,
    reads=("nng_fig9",),
    page="gradient_stochastic",
    problem="cover_type",
    caption="Histograms of the draws of two coefficients, on a logarithmic scale, of the logistic regression on Cover "
    "Type with a Laplace prior, a row for each sampler over "
    "HMC in grey: NNg-HMC, which samples the posterior, and SGHMC without correction at "
    'leapfrog steps of {% for name, entry in samplers.items() if "friction" in entry %}{{ ", " if not '
    'loop.first }}{{ entry.step_size }} ({{ name | replace("sghmc_", "") }}){% endfor %}; their squares are '
    "what the paper calls step sizes. The axis is wide enough for the narrowest histogram of SGHMC; the "
    "others extend beyond it. The two coefficients are those with the largest absolute posterior means by "
    "HMC.",
)
