"""HMC and NNg-HMC on a banana-shaped distribution and an ill-conditioned Gaussian (paper B, Figs. 2 and 3)."""

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.plane import arrows, contours, rate_label
from rnshmc.plots.style import ALARM, WIDTH, sampler_legend, sampler_style
from rnshmc.results.names import in_order

NAMES = ("x1", "x2")
LABELS = ("$x_1$", "$x_2$")
RING: dict[str, Any] = {"color": ALARM, "linewidth": 0.9}
REACH = 4.3
"""Half the width of an axis, in standard deviations: of 100000 normal draws, two lie beyond."""


def network_banana(
    field: pd.DataFrame, draws: pd.DataFrame, trajectories: pd.DataFrame, acceptance: pd.DataFrame
) -> Figure:
    """Draw Fig. 2 from the tables of `rnshmc.experiments.network_banana.NetworkBananaTables`."""
    samplers = in_order(acceptance["sampler"])
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for ax, sampler in zip(axes[0], samplers, strict=True):
        style = sampler_style(sampler)
        part = draws[draws["sampler"] == sampler]
        ax.plot(part["x1"], part["x2"], ".", color=style.colour, markersize=2.2, alpha=0.5, markeredgewidth=0)
        ax.set_title(f"{style.label}: acceptance {rate_label(acceptance, sampler)}")
    for sampler, width in zip(samplers, (0.009, 0.0045), strict=True):
        arrows(axes[1, 0], field, sampler, names=NAMES, width=width, scale=90.0)
    axes[1, 0].set_title("forces")
    paths = trajectories.sort_values("step").groupby(["sampler", "trajectory"])
    for (driving, _), path in paths:
        style = sampler_style(str(driving))
        axes[1, 1].plot(path["x1"], path["x2"], **style.drawing, linewidth=1.1)
        axes[1, 1].plot(path["x1"].iloc[-1], path["x2"].iloc[-1], style.marker, color=style.colour, markersize=5)
    starts = trajectories[trajectories["step"] == 0]
    axes[1, 1].plot(starts["x1"], starts["x2"], "s", color=ALARM, markersize=5, linestyle="", zorder=5)
    start = Line2D([], [], color=ALARM, linestyle="", marker="s", markersize=5, label="start of a trajectory")
    axes[1, 1].set_title("trajectories")
    for ax in axes.ravel():
        contours(ax, field, names=NAMES)
        ax.grid(visible=False)
    for ax in axes[1]:
        ax.set_xlabel(LABELS[0])
    for ax in axes[:, 0]:
        ax.set_ylabel(LABELS[1])
    sampler_legend(figure, (), extra=[*map(_trajectory, samplers), start])
    return figure


def _trajectory(sampler: str) -> Line2D:
    """Entry of the legend: the line of a trajectory, with the mark at its end."""
    style = sampler_style(sampler)
    return Line2D([], [], **style.drawing, linewidth=1.1, marker=style.marker, markersize=5, label=style.label)


FIG2 = Drawing(
    name="nng_fig2",
    title="HMC and NNg-HMC on a banana-shaped distribution (paper B, Fig. 2)",
    draw=network_banana,
    reads=("nng_fig2_field", "nng_fig2_draws", "nng_fig2_trajectories", "nng_fig2_acceptance"),
    page="gradients",
    config="experiments.nng_fig2",
    caption="The distribution of eq. (23) with A = {{ scale1 }}, C = {{ scale2 }}, B = {{ bend }}, which the paper "
    "does not print. Top: thinned draws of all chains of each sampler. Bottom left: forces of the exact "
    "gradient (broad arrows) and of the network (narrow arrows), growing with the logarithm of the force. "
    "Bottom right: trajectories from the red squares with the same initial momenta, in {{ drawn_steps }} "
    "leapfrog steps of {{ drawn_step_size }}. The network was trained on the gradients along the trajectories "
    "of the first {{ training }} iterations of HMC, except those that diverged. Acceptance at step size {{ "
    "step_size }}: mean and standard error over {{ repeats }} chains of {{ iterations }} iterations, which "
    "start at draws of the distribution. Chains remain for long in its ends, where leapfrog is unstable, so "
    "that acceptance varies widely between them. Contours are at 1 to 4 standard deviations.",
)


def network_gaussian(draws: pd.DataFrame, acceptance: pd.DataFrame, *, smallest: float, largest: float) -> Figure:
    """Draw Fig. 3 from the tables of `rnshmc.experiments.network_gaussian.NetworkGaussianTables`.

    `smallest` and `largest` are the variances of the two coordinates.
    """
    samplers = in_order(acceptance["sampler"])
    narrow, wide = math.sqrt(smallest), math.sqrt(largest)
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes = figure.subplots(len(samplers), 1, sharex=True, sharey=True)
    for ax, sampler in zip(axes, samplers, strict=True):
        style = sampler_style(sampler)
        part = draws[draws["sampler"] == sampler]
        ax.plot(part["widest"], part["narrowest"], style.marker, color=style.colour, markersize=2, markeredgewidth=0)
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


FIG3 = Drawing(
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
