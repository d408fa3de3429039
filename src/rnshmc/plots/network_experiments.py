"""NNg-HMC beside HMC on distributions with challenging gradients (paper B, Figs. 2 and 3)."""

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from rnshmc.plots.plane import arrows, contours
from rnshmc.plots.style import ALARM, WIDTH, sampler_legend, sampler_style, theme
from rnshmc.results.estimates import Estimate
from rnshmc.results.names import in_order

NAMES = ("x1", "x2")
LABELS = ("$x_1$", "$x_2$")
RING: dict[str, Any] = {"color": ALARM, "linewidth": 0.9}
REACH = 4.3
"""Half the width of an axis of Fig. 3, in standard deviations: of 100000 normal draws, two lie beyond."""


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
            ax.set_title(f"{style.label}: acceptance {_rate(acceptance, sampler)}")
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
        axes[1, 1].set_title("trajectories")
        for ax in axes.ravel():
            contours(ax, field, names=NAMES)
            ax.grid(visible=False)
        for ax in axes[1]:
            ax.set_xlabel(LABELS[0])
        for ax in axes[:, 0]:
            ax.set_ylabel(LABELS[1])
        start = Line2D([], [], color=ALARM, linestyle="", marker="s", markersize=5, label="start of a trajectory")
        sampler_legend(figure, samplers, extra=[start])
        return figure


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
                title=f"{style.label}: acceptance {_rate(acceptance, sampler)}",
                ylabel=f"narrowest, variance {smallest:g}",
                xlim=(-REACH * wide, REACH * wide),
                ylim=(-REACH * narrow, REACH * narrow),
            )
        axes[-1].set_xlabel(f"widest coordinate, variance {largest:g}")
        rings = Line2D([], [], **RING, label="1, 2, 3 standard deviations of the target")
        sampler_legend(figure, samplers, marker=True, extra=[rings])
        return figure


def _rate(acceptance: pd.DataFrame, sampler: str) -> str:
    """Mean acceptance over the repeats, with its standard error where there is one."""
    rate = Estimate.over(acceptance.loc[acceptance["sampler"] == sampler, "acceptance"])
    return f"{rate.value:.3f}" + (f" ± {rate.error:.3f}" if math.isfinite(rate.error) else "")
