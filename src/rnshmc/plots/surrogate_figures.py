"""Surrogates at work in small: in one dimension, on a banana, on a Gaussian (paper A, Figs. 1 to 3)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.plane import arrows, contours
from rnshmc.plots.style import ALARM, INK, WIDTH, log_axis, sampler_legend, sampler_style, theme
from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.results.names import in_order

TRUTH: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PROPOSAL = "#0072b2"
SURROGATE_LABELS = {
    "rns_hmc": "network, additive",
    "rns_hmc_rbf": "network, RBF",
    "gp_hmc": "full GP",
    "fitc_hmc": "FITC",
}
"""How the surrogates are called where they are looked at by themselves, by the sampler that each drives."""
QUANTILES = (0.1, 0.5, 0.9)
"""Lower end of a bar, mark, upper end."""
NAMES = ("theta1", "theta2")
MARGIN = 0.25
"""Free space around the grid of the banana and the trajectories."""
DODGE = 0.014
"""Shift of one method's marks against the next one's, as a share of the largest training set."""


def one_dimension(points: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Surrogates of x^2 / 2, one panel per number of observations: the truth dashed, observations as points (Fig. 1).

    Parameters
    ----------
    points, curves
        `rnshmc.experiments.one_dimension.OneDimension`.
    """
    sizes = sorted(curves["n"].unique())
    with theme():
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
        ]
        handles.extend(
            Line2D([], [], **sampler_style(method).drawing, label=SURROGATE_LABELS[method])
            for method in in_order(curves["method"])
        )
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.4)
        return figure


def banana(field: pd.DataFrame, trajectories: pd.DataFrame, acceptance: pd.DataFrame) -> Figure:
    """Forces of the exact and the surrogate potential, and trajectories of HMC and RNS-HMC (Fig. 2).

    Arrows show minus the gradient: its direction, and a length that grows with the logarithm of its norm.

    Parameters
    ----------
    field, trajectories, acceptance
        `rnshmc.experiments.banana.BananaTables`.
    """
    samplers = in_order(acceptance["sampler"])
    places = pd.concat([field, trajectories])
    limits = [(places[name].min() - MARGIN, places[name].max() + MARGIN) for name in NAMES]
    with theme():
        figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
        axes = figure.subplots(1, 1 + len(samplers), sharex=True, sharey=True)
        for sampler, scale in zip(samplers, (1.0, 0.8), strict=True):
            arrows(axes[0], field, sampler, names=NAMES, width=0.006 * scale)
        axes[0].set(title="forces", xlim=limits[0], ylim=limits[1], ylabel=r"$\theta_2$")
        for ax, sampler in zip(axes[1:], samplers, strict=True):
            _trajectories(ax, trajectories[trajectories["sampler"] == sampler], sampler)
            rate = Estimate.over(acceptance.loc[acceptance["sampler"] == sampler, "acceptance"])
            error = f" ± {rate.error:.3f}" if np.isfinite(rate.error) else ""
            ax.set_title(f"{sampler_style(sampler).label}\nacceptance {rate.value:.3f}{error}")
        for ax in axes:
            contours(ax, field, names=NAMES)
            ax.set_xlabel(r"$\theta_1$")
            ax.grid(visible=False)
        extra = [
            Line2D([], [], color=ALARM, linestyle="", marker="s", markersize=5, label="start"),
            Line2D([], [], color=PROPOSAL, linestyle="", marker="o", markersize=4.5, label="proposals"),
        ]
        sampler_legend(figure, samplers, extra=extra)
        return figure


def gaussian_sweep(points: pd.DataFrame) -> Figure:
    """Training time, acceptance and efficiency against the size of the training set (Fig. 3).

    Marks are medians over the repeats, bars go from the 10% to the 90% quantile; exact HMC, which needs no training
    set, is a level with a band of the same meaning.

    Parameters
    ----------
    points
        Tables of `rnshmc.experiments.gaussian_sweep.sweep_point`, one below the other.
    """
    methods = in_order(points["method"])
    trained = [method for method in methods if method != BASELINE]
    with theme():
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        axes = figure.subplots(1, 3)
        panels = {
            "train_s": "training time [s]",
            "acceptance": "acceptance probability",
            "ess_per_s": "mean ESS per second",
        }
        for ax, (column, title) in zip(axes, panels.items(), strict=True):
            for place, method in enumerate(trained):
                shift = DODGE * points["size"].max() * (place - 0.5 * (len(trained) - 1))
                _quantile_bars(ax, points[points["method"] == method], column, shift)
            if BASELINE in methods and column != "train_s":
                _level(ax, points.loc[points["method"] == BASELINE, column])
            ax.set(title=title, xlabel="training points")
        axes[1].set_ylim(bottom=-0.02)
        for ax in (axes[0], axes[2]):
            ax.set_yscale("log")
            log_axis(ax.yaxis)
        sampler_legend(figure, methods)
        return figure


def _trajectories(ax: Axes, trajectories: pd.DataFrame, sampler: str) -> None:
    for _, path in trajectories.groupby("trajectory"):
        path = path.sort_values("step")
        ax.plot(path["theta1"], path["theta2"], color=sampler_style(sampler).colour, linewidth=1.0, alpha=0.85)
        ax.plot(path["theta1"].iloc[-1], path["theta2"].iloc[-1], "o", color=PROPOSAL, markersize=4.5, zorder=4)
    start = trajectories[trajectories["step"] == 0].iloc[0]
    ax.plot(start["theta1"], start["theta2"], "s", color=ALARM, markersize=6, zorder=5)


def _quantile_bars(ax: Axes, points: pd.DataFrame, column: str, shift: float) -> None:
    method = str(points["method"].iloc[0])
    style = sampler_style(method)
    groups = points.groupby("size")[column]
    low, median, high = (groups.quantile(level) for level in QUANTILES)
    sizes = median.index.to_numpy() + shift
    drawing = {**style.drawing, "marker": style.marker, "markersize": 4.5, "linewidth": 1.2}
    ax.errorbar(sizes, median, yerr=(median - low, high - median), **drawing, elinewidth=0.9, capsize=2)


def _level(ax: Axes, values: pd.Series) -> None:
    low, median, high = (float(values.quantile(level)) for level in QUANTILES)
    ax.axhspan(low, high, color=sampler_style(BASELINE).colour, alpha=0.12, linewidth=0)
    ax.axhline(median, **sampler_style(BASELINE).drawing, linewidth=1.2)
