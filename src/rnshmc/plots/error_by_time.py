"""Error of the posterior mean by running time."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.panels import Titles, origins_of, problem_panels, rows_of
from rnshmc.plots.style import WIDTH, log_axis, sampler_legend, sampler_style, theme
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order


def error_by_time(table: pd.DataFrame, titles: Titles) -> Figure:
    """Relative error of the mean against running time (paper A, Fig. 8), one panel per problem.

    Lines are medians over chains. A mark is where a surrogate takes over: until then every sampler is HMC.

    Parameters
    ----------
    table
        From `rnshmc.results.adaptation.error_by_time`.
    titles
        Title of each problem.
    """
    origins = origins_of(table)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 + 2.3 * max(rows_of(origins), 1)), layout="constrained")
        for ax, problem in problem_panels(figure, origins, titles, "seconds, exploration and fit included"):
            part = table[table["problem"] == problem]
            ax.set(xscale="log", yscale="log")
            for sampler in in_order(part["sampler"]):
                _median_line(ax, part[part["sampler"] == sampler], sampler)
            log_axis(ax.xaxis)
            log_axis(ax.yaxis)
        figure.supylabel("relative error of the mean", size="medium")
        sampler_legend(figure, table["sampler"])
        return figure


def _median_line(ax: Axes, chains: pd.DataFrame, sampler: str) -> None:
    style = sampler_style(sampler)
    median = chains.groupby("iteration")[["seconds", "rem"]].median()
    ax.plot(median["seconds"], median["rem"], **style.drawing, linewidth=1.6)
    driven = chains.loc[chains["phase"] == "sample", "iteration"]
    if sampler != BASELINE and not driven.empty:
        ax.plot(*median.loc[driven.min()], style.marker, color=style.colour, markersize=6)
