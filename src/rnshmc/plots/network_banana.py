"""NNg-HMC and HMC on a banana-shaped distribution (paper B, Fig. 2)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.plane import arrows, contours, rate_label
from rnshmc.plots.style import ALARM, WIDTH, sampler_legend, sampler_style, theme
from rnshmc.results.names import in_order

NAMES = ("x1", "x2")
LABELS = ("$x_1$", "$x_2$")


def network_banana(
    field: pd.DataFrame, draws: pd.DataFrame, trajectories: pd.DataFrame, acceptance: pd.DataFrame
) -> Figure:
    """Draws of both samplers, their forces, and long trajectories driven by either (Fig. 2).

    Arrows show minus the gradient: its direction, and a length that grows with the logarithm of its norm.

    Parameters
    ----------
    field, draws, trajectories, acceptance
        `rnshmc.experiments.network_banana.NetworkBananaTables`.
    """
    samplers = in_order(acceptance["sampler"])
    with theme():
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


FIGURE = Drawing(
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
