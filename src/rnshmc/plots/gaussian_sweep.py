"""Surrogates on a Gaussian, by the size of their training sets (paper A, Fig. 3)."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, log_axis, sampler_legend, sampler_style
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

QUANTILES = (0.1, 0.5, 0.9)
"""Lower end of a bar, mark, upper end."""
DODGE = 0.014
"""Horizontal offset between the marks of two methods, as a fraction of the largest training set."""


def gaussian_sweep(points: pd.DataFrame) -> Figure:
    """Training time, acceptance and efficiency against the size of the training set (Fig. 3).

    Marks are medians over the repeats, bars extend from the 10% to the 90% quantile; exact HMC, which needs no training
    set, is a horizontal line with the same kind of band. `points` are tables of
    `rnshmc.experiments.gaussian_sweep.sweep_point`, one below the other.
    """
    methods = in_order(points["method"])
    trained = [method for method in methods if method != BASELINE]
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


FIGURE = Drawing(
    name="fig3",
    title="Surrogates on a narrow Gaussian (paper A, Fig. 3)",
    draw=gaussian_sweep,
    reads=("fig3",),
    page="gaussian",
    config="experiments.fig3",
    caption="Training time, acceptance, and mean ESS per second of sampling against the number of training points, on "
    "a Gaussian in {{ dimension }} dimensions with variance {{ wide_variance }} along (1, ..., 1) and {{ "
    "narrow_variance }} across. Marks are medians over {{ repeats }} repeats, bars and bands go from the 10% "
    "to the 90% quantile, seconds are processor seconds. Exact HMC is the level; its potential costs next to "
    "nothing here, so that no surrogate can be faster. As in the published code, trajectories have {{ "
    "n_steps[0] }} to {{ n_steps[1] }} steps, training of the Gaussian processes begins after the search for "
    "hyperparameters (column search_s of ``fig3.csv``), and FITC's inducing points are drawn from the target.",
)
