"""Acceptance of every chain, and evaluations per iteration."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import ROW, origins_of, problem_panels, problem_ticks, row_places
from rnshmc.plots.style import INK, PAPER, WIDTH, sampler_legend, sampler_style
from rnshmc.results.names import Titles, in_order

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "values_per_iter": ("exact potential", {"facecolor": INK, "edgecolor": "white"}),
    "gradients_per_iter": ("exact gradient", {"facecolor": "#7b8794", "edgecolor": "white", "hatch": "////"}),
    "metrics_per_iter": ("exact metric", {"facecolor": "#c9ced3", "edgecolor": "white", "hatch": "...."}),
    "surrogate_gradients_per_iter": ("surrogate gradient", {"facecolor": "none", "edgecolor": PAPER}),
}
"""Label and look of each kind, in the order of the bars."""


def evaluations(chains: pd.DataFrame, titles: Titles) -> Figure:
    """Draw mean evaluations per kept iteration, from a table of `rnshmc.results.metrics.read_metrics_frame`."""
    kinds = [kind for kind in KINDS if (chains[kind] > 0).any()]
    figure, panels = problem_panels(chains, titles, "evaluations per kept iteration", height=1.7, legend=0.8)
    for ax, part in panels:
        # What is not counted, as gradients of the surrogate in `rnshmc.sample`, has no bar.
        counts = part.groupby("sampler")[kinds].mean().fillna(0.0)
        _evaluation_bars(ax, counts.loc[in_order(counts.index)[::-1]])
    patches = [Patch(label=label, **look) for label, look in map(KINDS.__getitem__, kinds)]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches))
    return figure


def _evaluation_bars(ax: Axes, counts: pd.DataFrame) -> None:
    start = np.zeros(len(counts))
    for kind in counts.columns.astype(str):
        # An outline of no width would be a line.
        lines = np.where(counts[kind] > 0, 0.8, 0.0)
        ax.barh(range(len(counts)), counts[kind], left=start, height=0.6, linewidth=lines, **KINDS[kind][1])
        start += counts[kind].to_numpy()
    ax.set_yticks(range(len(counts)), [sampler_style(sampler).lines for sampler in counts.index])
    ax.set(xlim=(0, 1.05 * start.max()), ylim=(-0.6, len(counts) - 0.1))
    ax.grid(visible=False, axis="y")


EVALUATIONS = Drawing(
    name="evaluations",
    title="Evaluations per kept iteration",
    draw=evaluations,
    reads=("metrics",),
    page="table1",
    caption="Evaluations of the exact potential, of its gradient and of the surrogate's gradient: costs that do not "
    "depend on the machine. Exact evaluations are filled, those of the surrogate are outlines.",
)


def acceptance(chains: pd.DataFrame, paper: pd.DataFrame, titles: Titles) -> Figure:
    """Draw the acceptance of each chain, and the printed one (`rnshmc.scorecard.published.read_acceptance`)."""
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


ACCEPTANCE = Drawing(
    name="acceptance",
    title="Acceptance of every chain",
    draw=acceptance,
    reads=("metrics", "published"),
    page="table1",
    caption="Acceptance probability over the kept iterations, one mark per chain.{% if compared %} A grey bar is the "
    "value of the paper.{% endif %}",
)

ACCEPTANCE_OF_PROBLEM = replace(ACCEPTANCE, page="problem")
