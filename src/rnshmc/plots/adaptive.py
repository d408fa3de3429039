"""Adaptive chains: acceptance by training points, and error by time (paper A, Figs. 7 and 8)."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import problem_panels
from rnshmc.plots.style import ALARM, PAPER, log_axis, sampler_legend, sampler_style
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import Titles, in_order

ADAPTIVE = "arns_hmc"
BAND = (0.05, 0.95)
_BASELINE_LINE = (0, (5, 2))
BAND_ALPHA = 0.2


def acceptance_by_training(table: pd.DataFrame, titles: Titles) -> Figure:
    """Draw Fig. 7 of paper A from a table of `rnshmc.results.adaptation.acceptance_by_training`."""
    adaptive, style = table[table["sampler"] == ADAPTIVE], sampler_style(ADAPTIVE)
    figure, panels = problem_panels(adaptive, titles, "training points", height=2.2, legend=0.9)
    for ax, part in panels:
        by_size = part.groupby("training_points")["ap"]
        low, middle, high = (by_size.quantile(share) for share in (BAND[0], 0.5, BAND[1]))
        ax.fill_between(low.index, low, high, color=style.colour, alpha=0.25, linewidth=0)
        ax.plot(middle.index, middle, color=style.colour, linewidth=1.5)
        ax.axhline(part["hmc_ap"].iloc[0], color=ALARM, linestyle=_BASELINE_LINE, linewidth=1.5)
        ax.set_ylim(0, 1)
    figure.supylabel("acceptance probability", size="medium")
    handles = [
        Line2D([], [], color=style.colour, label=f"{style.label}, median over chains"),
        Patch(color=style.colour, alpha=0.25, linewidth=0, label="90% of the chains"),
        Line2D([], [], color=ALARM, linestyle=_BASELINE_LINE, label="HMC, mean"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


FIG7 = Drawing(
    name="fig7",
    title="Acceptance of ARNS-HMC as the training set grows (paper A, Fig. 7)",
    draw=acceptance_by_training,
    reads=("fig7",),
    page="adaptive",
    caption="Acceptance against the number of training points: median over chains, and a band that contains 90% of "
    "them. The dashed red line is the mean acceptance of HMC. Each point averages the acceptance "
    "probabilities of a window of iterations, whose length is the column ``window`` of ``fig7.csv``.",
)


def error_by_time(table: pd.DataFrame, titles: Titles) -> Figure:
    """Draw Fig. 8 of paper A from a table of `rnshmc.results.adaptation.error_by_time`.

    A sampler whose surrogate takes over after the last second of the table has no line.
    """
    figure, panels = problem_panels(table, titles, "seconds, exploration and fit included", height=2.3, legend=0.9)
    for ax, part in panels:
        errors = {str(sampler): _errors(rows) for sampler, rows in part.groupby("sampler")}
        ax.set(xscale="log", yscale="log")
        for sampler in in_order(errors):
            _draw(ax, errors[sampler], sampler)
        log_axis(ax.xaxis)
        log_axis(ax.yaxis)
    figure.supylabel("relative error of the posterior mean", size="medium")
    band = Patch(color=PAPER, alpha=BAND_ALPHA, linewidth=0, label="lowest to highest chain")
    sampler_legend(figure, table["sampler"], extra=[band])
    return figure


def _errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Error of each chain (a column each) by seconds; for surrogates, from where they have taken over in all chains."""
    errors = rows.pivot(index="seconds", columns="chain", values="rem")
    if rows["sampler"].iloc[0] == BASELINE:
        return errors
    driven = rows[rows["phase"] == "sample"].groupby("chain")["seconds"].min().reindex(errors.columns)
    return errors.iloc[:0] if driven.hasnans else errors.truncate(before=driven.max())


def _draw(ax: Axes, errors: pd.DataFrame, sampler: str) -> None:
    if errors.empty:
        return
    style = sampler_style(sampler)
    median = errors.median(axis=1)
    low, high = errors.min(axis=1), errors.max(axis=1)
    ax.fill_between(errors.index, low, high, color=style.colour, alpha=BAND_ALPHA, linewidth=0)
    ax.plot(median.index, median, **style.drawing, linewidth=1.6)
    if sampler != BASELINE:
        ax.plot(median.index[0], median.iloc[0], style.marker, color=style.colour, markersize=6)


FIG8 = Drawing(
    name="fig8",
    title="Error of the mean against running time (paper A, Fig. 8)",
    draw=error_by_time,
    reads=("fig8",),
    page="adaptive",
    caption="Relative error of the posterior mean: medians over chains at equal seconds, with bands from the lowest to "
    "the highest chain. The clock starts with the chain; exploration and fit count, at the seconds that the timing "
    "stage measured. The mean is that of all states since the beginning of the training set. A mark is where a "
    "surrogate takes over; until then every sampler is HMC. All lines end with the first sampler that is through.",
)
