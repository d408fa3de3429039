"""NNg-HMC and HMC on an ill-conditioned Gaussian (paper B, Fig. 3)."""

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.plane import rate_label
from rnshmc.plots.style import ALARM, WIDTH, sampler_legend, sampler_style, theme
from rnshmc.results.names import in_order

RING: dict[str, Any] = {"color": ALARM, "linewidth": 0.9}
REACH = 4.3
"""Half the width of an axis, in standard deviations: of 100000 normal draws, two lie beyond."""


def network_gaussian(draws: pd.DataFrame, acceptance: pd.DataFrame, *, smallest: float, largest: float) -> Figure:
    """Draws in the narrowest and the widest coordinate, HMC on top, on the same axes of very different scales (Fig. 3).

    Parameters
    ----------
    draws, acceptance
        `rnshmc.experiments.network_gaussian.NetworkGaussianTables`.
    smallest, largest
        Variances of the two coordinates, whose ellipses at 1, 2 and 3 standard deviations are drawn.
    """
    samplers = in_order(acceptance["sampler"])
    narrow, wide = math.sqrt(smallest), math.sqrt(largest)
    with theme():
        figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
        axes = figure.subplots(len(samplers), 1, sharex=True, sharey=True)
        for ax, sampler in zip(axes, samplers, strict=True):
            style = sampler_style(sampler)
            part = draws[draws["sampler"] == sampler]
            ax.plot(
                part["widest"], part["narrowest"], style.marker, color=style.colour, markersize=2, markeredgewidth=0
            )
            for radius in (1.0, 2.0, 3.0):
                ring = Ellipse((0.0, 0.0), 2 * radius * wide, 2 * radius * narrow, fill=False, **RING)
                ax.add_patch(ring)
            ax.set(
                title=f"{style.label}: acceptance {rate_label(acceptance, sampler)}",
                ylabel=f"narrowest, variance {smallest:g}",
                xlim=(-REACH * wide, REACH * wide),
                ylim=(-REACH * narrow, REACH * narrow),
            )
        axes[-1].set_xlabel(f"widest coordinate, variance {largest:g}")
        rings = Line2D([], [], **RING, label="1, 2, 3 standard deviations of the target")
        sampler_legend(figure, samplers, marker=True, extra=[rings])
        return figure


FIGURE = Drawing(
    name="nng_fig3",
    title="HMC and NNg-HMC on an ill-conditioned Gaussian (paper B, Fig. 3)",
    draw=network_gaussian,
    reads=("nng_fig3_draws", "nng_fig3_acceptance"),
    page="gradients",
    config="experiments.nng_fig3",
    caption="A Gaussian in {{ dimension }} dimensions with variances from {{ smallest }} to {{ largest }}, in its "
    "narrowest and its widest coordinate; the two axes have very different scales, which are the same in both "
    "panels. The network was trained on the gradients along the trajectories of {{ collected }} iterations of "
    "HMC started at a draw of the Gaussian. Thinned draws of all chains of each sampler; acceptance at step "
    "size {{ step_size }}: mean and standard error over {{ repeats }} chains of {{ iterations }} iterations.",
)
