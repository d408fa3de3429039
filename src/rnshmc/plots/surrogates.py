"""Surrogates in one and two dimensions (paper A, Figs. 1 and 2)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.plane import arrows, contours, rate_label
from rnshmc.plots.style import ALARM, INK, WIDTH, sampler_legend, sampler_style
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

TRUTH: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.1}
SURROGATE_LABELS = {
    "rns_hmc": "network, additive",
    "rns_hmc_rbf": "network, RBF",
    "gp_hmc": "full GP",
    "fitc_hmc": "FITC",
}
"""Labels of the surrogates themselves, by the sampler that each drives."""
PROPOSAL = "#0072b2"
TRAJECTORY = 1.0
"""Width of a trajectory's line, which is solid in both panels: dashes would hide its bends."""
NAMES = ("theta1", "theta2")
MARGIN = 0.25
"""Free space around the grid of the banana and the exact trajectories."""


def one_dimension(points: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Draw Fig. 1 from the tables of `rnshmc.experiments.one_dimension.OneDimension`."""
    sizes, methods = sorted(curves["n"].unique()), curves["method"].unique()
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for ax, n in zip(axes, sizes, strict=True):
        part = curves[curves["n"] == n]
        x = np.sort(part["x"].unique())
        ax.plot(x, 0.5 * x**2, **TRUTH, zorder=1)
        for method in in_order(part["method"]):
            line = part[part["method"] == method]
            ax.plot(line["x"], line["mean"], **sampler_style(method).drawing, linewidth=1.6)
        seen = points[points["n"] <= n]
        ax.plot(seen["x"], seen["y"], "o", color=INK, markersize=2.6, markeredgewidth=0, alpha=0.75)
        ax.set(title=f"N = {n}", xlabel="x", xlim=(x[0], x[-1]), ylim=(-0.9, 8.4))
    axes[0].set_ylabel("potential")
    handles = [
        Line2D([], [], **TRUTH, label="$x^2/2$"),
        Line2D([], [], color=INK, linestyle="", marker="o", markersize=3, label="observations"),
        *(Line2D([], [], **sampler_style(name).drawing, label=SURROGATE_LABELS[name]) for name in in_order(methods)),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.4)
    return figure


FIG1 = Drawing(
    name="fig1",
    title="Surrogates of a parabola (paper A, Fig. 1)",
    draw=one_dimension,
    reads=("fig1_points", "fig1"),
    page="surrogates",
    config="experiments.fig1",
    caption="Surrogates of x²/2 (dashed) from 10, 20 and 40 noisy observations at nested standard normal points. "
    "Random networks have five hidden units, FITC five inducing points; their lines are averages over {{ fits "
    "}} fits. The noise has standard deviation {{ noise_sd }}. The observations are those that the authors "
    "published, or ours if those were unavailable: the column data of tables/fig1_points.csv says which.",
)


def banana(field: pd.DataFrame, trajectories: pd.DataFrame, acceptance: pd.DataFrame) -> Figure:
    """Draw Fig. 2 from the tables of `rnshmc.experiments.banana.BananaTables`."""
    samplers = in_order(acceptance["sampler"])
    places = pd.concat([field, trajectories[trajectories["sampler"] == BASELINE]])
    limits = [(places[name].min() - MARGIN, places[name].max() + MARGIN) for name in NAMES]
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    axes = figure.subplots(1, 1 + len(samplers), sharex=True, sharey=True)
    for sampler, scale in zip(samplers, (1.0, 0.8), strict=True):
        arrows(axes[0], field, sampler, names=NAMES, width=0.006 * scale)
    axes[0].set(title="forces", xlim=limits[0], ylim=limits[1], ylabel=r"$\theta_2$")
    for ax, sampler in zip(axes[1:], samplers, strict=True):
        _trajectories(ax, trajectories[trajectories["sampler"] == sampler], sampler)
        ax.set_title(f"{sampler_style(sampler).label}\nacceptance {rate_label(acceptance, sampler)}")
    for ax in axes:
        contours(ax, field, names=NAMES)
        ax.set_xlabel(r"$\theta_1$")
        ax.grid(visible=False)
    looks = [sampler_style(sampler) for sampler in samplers]
    handles = [
        *(Line2D([], [], color=look.colour, linewidth=TRAJECTORY, label=look.label) for look in looks),
        Line2D([], [], color=ALARM, linestyle="", marker="s", markersize=5, label="start"),
        Line2D([], [], color=PROPOSAL, linestyle="", marker="o", markersize=4.5, label="proposals"),
    ]
    sampler_legend(figure, (), extra=handles)
    return figure


def _trajectories(ax: Axes, trajectories: pd.DataFrame, sampler: str) -> None:
    for _, path in trajectories.groupby("trajectory"):
        path = path.sort_values("step")
        ax.plot(path["theta1"], path["theta2"], color=sampler_style(sampler).colour, linewidth=TRAJECTORY)
        ax.plot(path["theta1"].iloc[-1], path["theta2"].iloc[-1], "o", color=PROPOSAL, markersize=4.5, zorder=4)
    start = trajectories[trajectories["step"] == 0].iloc[0]
    ax.plot(start["theta1"], start["theta2"], "s", color=ALARM, markersize=6, zorder=5)


FIG2 = Drawing(
    name="fig2",
    title="HMC and RNS-HMC on a banana-shaped posterior (paper A, Fig. 2)",
    draw=banana,
    reads=("fig2_field", "fig2_trajectories", "fig2_acceptance"),
    page="surrogates",
    config="experiments.fig2",
    caption="Left: forces of the exact potential and of the random network; arrows grow with the logarithm of the "
    "force. Middle and right: trajectories from the red square with the same initial momenta, each in {{ "
    "drawn_steps }} leapfrog steps, and the proposals at their ends; those of the network that leave the "
    "panel are cut. The network was trained on the states of iterations {{ discard + 1 }} to {{ explore }} of "
    "an exploration by HMC. Acceptance in {{ steps }} leapfrog steps: mean and standard error over {{ repeats "
    "}} chains of {{ iterations }} iterations. The paper's acceptance has the sign of the energy error "
    "reversed: column reversed_acceptance of ``fig2_acceptance.csv``.",
)
