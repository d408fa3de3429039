"""Overlaid histograms of coefficients by several samplers (paper B, Fig. 9)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, SamplerStyle, coordinate_label, mark_origin, plain, theme, variant_styles
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import base_sampler

APPROXIMATE = "sghmc"
"""The sampler whose histograms can be many times as wide as the posterior."""
MARGIN = 0.05


def coefficient_histograms(table: pd.DataFrame, title: str) -> Figure:
    """Histograms of each coefficient in one panel, that of exact HMC as an area, on a logarithmic scale.

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
    styles = variant_styles(table["sampler"])
    with theme():
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        axes = figure.subplots(1, len(coordinates), sharey=True, squeeze=False)[0]
        for ax, number in zip(axes, coordinates, strict=True):
            part = table[table["coordinate"] == number]
            for sampler, style in styles.items():
                _histogram(ax, part[part["sampler"] == sampler], style, filled=sampler == BASELINE)
            ax.set(xlabel=coordinate_label(number, r"\beta"), xlim=_place(part), yscale="log")
            ax.locator_params(axis="x", nbins=6)
        axes[0].set_ylabel("posterior density")
        handles = [Line2D([], [], **style.drawing, label=style.label) for style in styles.values()]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4))
        figure.suptitle(plain(title))
        mark_origin(figure, str(table["data"].iloc[0]))
        return figure


def _histogram(ax: Axes, bins: pd.DataFrame, style: SamplerStyle, *, filled: bool) -> None:
    edges = np.append(bins["low"], bins["high"].iloc[-1])
    if filled:
        ax.stairs(bins["density"], edges, fill=True, color=style.colour, alpha=0.15)
    ax.stairs(bins["density"], edges, **style.drawing, linewidth=1.3)


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
    "Type with a Laplace prior: HMC and NNg-HMC, which sample the posterior, and SGHMC without correction at "
    'leapfrog steps of {% for name, entry in samplers.items() if "friction" in entry %}{{ ", " if not '
    'loop.first }}{{ entry.step_size }} ({{ name | replace("sghmc_", "") }}){% endfor %}; their squares are '
    "what the paper calls step sizes. The axis is wide enough for the narrowest histogram of SGHMC; the "
    "others extend beyond it. The two coefficients are those with the largest absolute posterior means by "
    "HMC.",
)
