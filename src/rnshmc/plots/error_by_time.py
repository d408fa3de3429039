"""Error of the posterior mean by running time."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import Titles, origins_of, problem_panels, rows_of
from rnshmc.plots.style import PAPER, WIDTH, log_axis, sampler_legend, sampler_style, theme
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

BAND_ALPHA = 0.2


def error_by_time(table: pd.DataFrame, titles: Titles) -> Figure:
    """Relative error of the mean against running time (paper A, Fig. 8), one panel per problem.

    Lines are medians over chains, bands extend from the lowest to the highest chain. A surrogate's line begins with a
    mark where it has taken over in all chains; until then every sampler is HMC. A sampler whose surrogate takes over
    after the last second of the table has no line.

    Parameters
    ----------
    table
        From `rnshmc.results.adaptation.error_by_time`: all chains of a problem at the same seconds.
    titles
        Title of each problem.
    """
    origins = origins_of(table)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 + 2.3 * max(rows_of(origins), 1)), layout="constrained")
        for ax, problem in problem_panels(figure, origins, titles, "seconds, exploration and fit included"):
            errors = {
                str(sampler): _errors(rows) for sampler, rows in table[table["problem"] == problem].groupby("sampler")
            }
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


FIGURE = Drawing(
    name="fig8",
    title="Error of the mean against running time (paper A, Fig. 8)",
    draw=error_by_time,
    reads=("fig8",),
    page="adaptive",
    caption="Relative error of the posterior mean: medians over chains at equal seconds, with bands from the lowest "
    "to the highest chain. The clock starts with the chain; exploration and fit count, at the seconds that "
    "the timing stage measured. The mean is that of all states since the beginning of the training set. A "
    "mark is where a surrogate takes over; until then every sampler is HMC. All lines end with the first "
    "sampler that is through.",
)
