"""Acceptance of every chain, over all problems or of one."""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import ROW, Titles, origins_of, problem_ticks, row_places
from rnshmc.plots.style import PAPER, WIDTH, sampler_legend, sampler_style
from rnshmc.results.names import in_order


def acceptance(chains: pd.DataFrame, paper: pd.DataFrame, titles: Titles) -> Figure:
    """Acceptance probability of every chain, with the printed value where there is one.

    `chains` is from `rnshmc.results.metrics.metrics_frame`, `paper` has the columns problem, sampler and ap of the
    printed numbers.
    """
    cells = _cells(chains)
    published = paper.set_index(["problem", "sampler"])["ap"]
    figure = Figure(figsize=(WIDTH, 0.9 + ROW * (len(cells) + cells["problem"].nunique())), layout="constrained")
    ax = figure.subplots()
    places, ticks = row_places(cells)
    for place, (problem, sampler) in zip(places, cells[["problem", "sampler"]].to_numpy(), strict=True):
        style = sampler_style(sampler)
        values = chains.loc[(chains["problem"] == problem) & (chains["sampler"] == sampler), "ap"]
        ax.plot(values, np.full(len(values), place), style.marker, color=style.colour, alpha=0.7, markersize=5)
        if (problem, sampler) in published.index:
            ax.plot(published[problem, sampler], place, "|", color=PAPER, markersize=15, markeredgewidth=2.5, zorder=1)
    problem_ticks(ax, ticks, origins_of(cells), titles)
    ax.set_xlabel("acceptance probability of the kept iterations, one mark per chain")
    mark = Line2D([], [], color=PAPER, linestyle="", marker="|", markersize=12, markeredgewidth=2.5, label="paper")
    shown = published.index.isin(pd.MultiIndex.from_frame(cells[["problem", "sampler"]])).any()
    sampler_legend(figure, cells["sampler"], marker=True, extra=[mark] if shown else [])
    return figure


def _cells(chains: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem and sampler: problems as in the table, their samplers in the order of all figures."""
    origins = chains.groupby(["problem", "sampler"])["data"].first()
    samplers = chains.groupby("problem", sort=False)["sampler"]
    order = [(problem, sampler) for problem, members in samplers for sampler in in_order(members)]
    return origins.loc[order].reset_index()


FIGURE = Drawing(
    name="acceptance",
    title="Acceptance of every chain",
    draw=acceptance,
    reads=("metrics", "published"),
    page="table1",
    caption="Acceptance probability over the kept iterations, one mark per chain.{% if compared %} A grey bar is the "
    "value of the paper.{% endif %}",
)

OF_PROBLEM = replace(FIGURE, page="problem")
