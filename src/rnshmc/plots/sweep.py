"""Acceptance of RNS-HMC over a grid: a heat map, and two cuts through it (paper A, Figs. 4 and 5)."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import ALARM, WIDTH, sampler_style
from rnshmc.results.estimates import BASELINE

SURROGATE = "rns_hmc"
BAND = (0.1, 0.9)
COLUMN = "hidden_units"
"""The column along the heat map."""

_NAMES = {"d": "parameters $d$", "hidden_units": "hidden units $s$", "training_points": "training points $N$"}
_SYMBOLS = {"d": "d", "hidden_units": "s", "training_points": "N"}
# Its lightness grows evenly, so that the map is readable in grey and for colour-blind readers.
_MAP = "cividis"


def acceptance_sweep(table: pd.DataFrame, cuts: Mapping[str, int]) -> Figure:
    """The heat map of mean acceptance, its cuts outlined, and along each cut the median and 10-90% of the runs.

    The table has the columns d, hidden_units, training_points, run, ap and hmc_ap: one row for each point of a grid and
    run. Each of the two cuts has a fixed value on the grid: of the number of hidden units, or of the column up the heat
    map.
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
    _legend(drawing)
    return drawing


def _heat_map(ax: Axes, means: pd.DataFrame, cuts: Mapping[str, int]) -> None:
    import seaborn as sns  # Slow to import, and the workflow imports all drawing modules.

    sns.heatmap(means, ax=ax, cmap=_MAP, vmin=0, annot=True, fmt=".2f", annot_kws={"size": 6.5}, cbar=False)
    ax.invert_yaxis()
    ax.set(title="Mean acceptance", xlabel=_NAMES[str(means.columns.name)], ylabel=_NAMES[str(means.index.name)])
    ax.tick_params(length=0, labelrotation=0)
    _outline_cuts(ax, means, cuts)


def _outline_cuts(ax: Axes, means: pd.DataFrame, cuts: Mapping[str, int]) -> None:
    rows, columns = means.shape
    for column, value in cuts.items():
        along_row = column == means.index.name
        place = list(means.index if along_row else means.columns).index(value)
        corner, width, height = ((0, place), columns, 1) if along_row else ((place, 0), 1, rows)
        ax.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=ALARM, linewidth=1.2, clip_on=False))


def _cut(ax: Axes, rows: pd.DataFrame, across: str) -> None:
    style, baseline = sampler_style(SURROGATE), sampler_style(BASELINE)
    runs = rows.groupby(across)
    low, middle, high = (runs["ap"].quantile(share) for share in (BAND[0], 0.5, BAND[1]))
    ax.plot(middle.index, runs["hmc_ap"].median(), **baseline.drawing, linewidth=1.2)
    look = {**style.drawing, "marker": style.marker, "markersize": 4, "linewidth": 1.2}
    ax.errorbar(middle.index, middle, yerr=(middle - low, high - middle), **look, capsize=2)
    ax.set(xlabel=_NAMES[across], xlim=(0, 1.04 * middle.index.max()), ylim=(-0.02, 1))


def _legend(figure: Figure) -> None:
    style, baseline = sampler_style(SURROGATE), sampler_style(BASELINE)
    handles = [
        Line2D([], [], **style.drawing, marker=style.marker, markersize=4, label=f"{style.label}, median and 10-90%"),
        Line2D([], [], **baseline.drawing, label=f"{baseline.label}, median"),
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=len(handles))


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
