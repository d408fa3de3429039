"""Surrogates by the size of their training sets, the dimension and hidden units (paper A, Figs. 3, 4 and 5)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import ALARM, WIDTH, log_axis, sampler_legend, sampler_style
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

QUANTILES = (0.1, 0.5, 0.9)
"""Lower end of a bar, mark, upper end."""
DODGE = 0.014
"""Horizontal offset between the marks of two methods, as a fraction of the largest training set."""
SURROGATE = "rns_hmc"
COLUMN = "hidden_units"
"""The column along the heat map."""

_NAMES = {"d": "parameters $d$", "hidden_units": "hidden units $s$", "training_points": "training points $N$"}
_SYMBOLS = {"d": "d", "hidden_units": "s", "training_points": "N"}
# Its lightness grows evenly, so that the map is readable in grey and for colour-blind readers.
_MAP = "cividis"


def gaussian_sweep(points: pd.DataFrame) -> Figure:
    """Draw Fig. 3 from tables of `rnshmc.experiments.gaussian_sweep.sweep_point`, one below the other."""
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
            values = points[points["method"] == method].groupby("size")[column]
            _quantile_bars(ax, values, method, shift, markersize=4.5, elinewidth=0.9)
        if BASELINE in methods and column != "train_s":
            _level(ax, points.loc[points["method"] == BASELINE, column])
        ax.set(title=title, xlabel="training points")
    axes[1].set_ylim(bottom=-0.02)
    for ax in (axes[0], axes[2]):
        ax.set_yscale("log")
        log_axis(ax.yaxis)
    sampler_legend(figure, methods)
    return figure


def _quantile_bars(ax: Axes, values: Any, sampler: str, shift: float = 0.0, **look: float) -> None:
    """Medians and quantiles of values grouped by the abscissa."""
    style = sampler_style(sampler)
    low, median, high = (values.quantile(level) for level in QUANTILES)
    drawing = {**style.drawing, "marker": style.marker, "linewidth": 1.2, "capsize": 2, **look}
    ax.errorbar(median.index.to_numpy() + shift, median, yerr=(median - low, high - median), **drawing)


def _level(ax: Axes, values: pd.Series) -> None:
    low, median, high = (float(values.quantile(level)) for level in QUANTILES)
    ax.axhspan(low, high, color=sampler_style(BASELINE).colour, alpha=0.12, linewidth=0)
    ax.axhline(median, **sampler_style(BASELINE).drawing, linewidth=1.2)


FIG3 = Drawing(
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


def acceptance_sweep(table: pd.DataFrame, cuts: Mapping[str, int]) -> Figure:
    """Draw Fig. 4 or 5: columns d, hidden_units, training_points, run, ap and hmc_ap, a row for each point and run.

    Each of the two cuts has a fixed value: of the number of hidden units, or of the column up the heat map.
    """
    row = next(column for column in cuts if column != COLUMN)
    drawing = Figure(figsize=(WIDTH, 3.1), layout=ConstrainedLayoutEngine(w_pad=0.08))
    heat, *panels = drawing.subplots(1, 3, width_ratios=(1.55, 1.0, 1.0))
    _heat_map(heat, table.pivot_table(index=row, columns=COLUMN, values="ap", aggfunc="mean"), cuts)
    for ax, column in zip(panels, sorted(cuts), strict=True):
        across = row if column == COLUMN else COLUMN
        _cut(ax, table[table[column] == cuts[column]], across)
        ax.set_title(f"{_SYMBOLS[column]} = {cuts[column]}")
    panels[0].set_ylabel("acceptance probability")
    style, baseline = sampler_style(SURROGATE), sampler_style(BASELINE)
    handles = [
        Line2D([], [], **style.drawing, marker=style.marker, markersize=4, label=f"{style.label}, median and 10-90%"),
        Line2D([], [], **baseline.drawing, label=f"{baseline.label}, median"),
    ]
    drawing.legend(handles=handles, loc="outside lower right", ncols=len(handles))
    return drawing


def _heat_map(ax: Axes, means: pd.DataFrame, cuts: Mapping[str, int]) -> None:
    import seaborn as sns  # Slow to import, and the workflow imports all drawing modules.

    sns.heatmap(means, ax=ax, cmap=_MAP, vmin=0, annot=True, fmt=".2f", annot_kws={"size": 6.5}, cbar=False)
    ax.invert_yaxis()
    ax.set(title="Mean acceptance", xlabel=_NAMES[str(means.columns.name)], ylabel=_NAMES[str(means.index.name)])
    ax.tick_params(length=0, labelrotation=0)
    rows, columns = means.shape
    for column, value in cuts.items():
        along_row = column == means.index.name
        place = list(means.index if along_row else means.columns).index(value)
        corner, width, height = ((0, place), columns, 1) if along_row else ((place, 0), 1, rows)
        ax.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=ALARM, linewidth=1.2, clip_on=False))


def _cut(ax: Axes, rows: pd.DataFrame, across: str) -> None:
    runs = rows.groupby(across)
    level = runs["hmc_ap"].median()
    ax.plot(level.index, level, **sampler_style(BASELINE).drawing, linewidth=1.2)
    _quantile_bars(ax, runs["ap"], SURROGATE, markersize=4)
    ax.set(xlabel=_NAMES[across], xlim=(0, 1.04 * rows[across].max()), ylim=(-0.02, 1))


FIG4 = Drawing(
    name="fig4",
    title="Acceptance by dimension and hidden units (paper A, Fig. 4)",
    draw=acceptance_sweep,
    reads=("fig4",),
    page="sweeps",
    config="sweeps.fig4",
    caption="Acceptance probability of RNS-HMC on simulated logistic regressions with {{ config.sweeps.observations }} "
    "observations and d parameters, drawn as in section 5.1 of the paper, one model for each d ({{ config.sweeps.runs "
    "}} runs per point; the paper: 10). Left: mean over the runs, by hidden units s and d; the red outlines mark the "
    "cuts shown in the other panels: median and 10-90% of the runs, with the median of exact HMC. Training set: the {{ "
    "grid.training_points[0] }} iterations of exact HMC after the first {{ config.iterations.discard }}, repeats "
    "included; ridge penalty {{ config.sweeps.ridge }}; acceptance counted over the {{ config.sweeps.keep }} "
    'iterations that follow. The step size is tuned once for each d so that HMC accepts {{ "%.0f" | format(100 * '
    "config.sweeps.acceptance) }}%; the number of leapfrog steps is uniform on {{ config.sweeps.n_steps[0] }} to {{ "
    "config.sweeps.n_steps[1] }}, as for the logistic regression of Table 1. The paper gives neither observations, "
    "training points, ridge penalty nor leapfrog steps; these are ours. A quadratic in d variables has (d + 1)(d + "
    "2)/2 coefficients: 561 for d = 32, 1326 for d = 50, 2145 for d = 64.",
)

FIG5 = Drawing(
    name="fig5",
    title="Acceptance by training points and hidden units (paper A, Fig. 5)",
    draw=acceptance_sweep,
    reads=("fig5",),
    page="sweeps",
    config="sweeps.fig5",
    caption="Acceptance probability of RNS-HMC on a simulated logistic regression with {{ config.sweeps.observations "
    "}} observations and {{ grid.d[0] }} parameters ({{ config.sweeps.runs }} runs per point; the paper: 10). Left: "
    "mean over the runs, by hidden units s and training points N; the red outlines mark the cuts shown in the other "
    "panels: median and 10-90% of the runs, with the median of exact HMC. Training set: the N iterations of exact HMC "
    "after the first {{ config.iterations.discard }}, repeats included, so that the sets of one run are nested; the "
    "chain continues from the last of them for {{ config.sweeps.keep }} iterations. The other settings are those of "
    "Fig. 4. Acceptance dips where a training set has about as many distinct states as the network has hidden units: "
    "the fit just interpolates them, and the small ridge penalty does not keep the weights small.",
)
