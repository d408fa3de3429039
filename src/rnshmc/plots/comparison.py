"""Figures that compare samplers over all problems: efficiency, acceptance, evaluations."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rnshmc.plots.panels import Titles, origins_of, problem_panels, rows_of
from rnshmc.plots.style import (
    INK,
    MARKS,
    PAPER,
    WIDTH,
    log_axis,
    sampler_legend,
    sampler_style,
    theme,
)
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import in_order

EVALUATIONS = {
    "values_per_iter": ("exact potential", INK, ""),
    "gradients_per_iter": ("exact gradient", "#7b8794", "////"),
    "metrics_per_iter": ("exact metric", "#c9ced3", "...."),
    "surrogate_gradients_per_iter": ("surrogate gradient", "#f2b38a", "\\\\\\\\"),
}


def efficiency(table: pd.DataFrame, errors: pd.DataFrame, titles: Titles) -> Figure:
    """Smallest ESS per second and per exact evaluation, with standard errors; numbers are ratios to HMC.

    Parameters
    ----------
    table, errors
        `rnshmc.results.tables.table1` and its standard errors, in the same rows.
    titles
        Title of each problem.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 + 0.25 * (len(table) + table["problem"].nunique())), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        places, ticks = _places(table)
        panels = {"min_ess_per_s": "min ESS per second", "min_ess_per_value": "min ESS per exact evaluation"}
        for ax, (column, label) in zip(axes, panels.items(), strict=True):
            _efficiency_panel(ax, table, errors, column, places)
            ax.set(xscale="log", xlabel=label)
            ax.margins(x=0.18)
            log_axis(ax.xaxis)
            ax.grid(visible=False, axis="y")
        _problem_ticks(axes[0], ticks, origins_of(table), titles)
        sampler_legend(figure, table["sampler"], marker=True)
        return figure


def acceptance(chains: pd.DataFrame, paper: pd.DataFrame, titles: Titles) -> Figure:
    """Acceptance probability of every chain, beside the value of the paper.

    Parameters
    ----------
    chains
        One row per chain: problem, sampler, ap, data (`rnshmc.results.metrics.metrics_frame`).
    paper
        Columns problem, sampler, ap: the published Table 1.
    titles
        Title of each problem.
    """
    cells = chains.groupby(["problem", "sampler"], sort=False)["data"].first().reset_index()
    published = paper.set_index(["problem", "sampler"])["ap"]
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 + 0.25 * (len(cells) + cells["problem"].nunique())), layout="constrained")
        ax = figure.subplots()
        places, ticks = _places(cells)
        for place, (problem, sampler) in zip(places, cells[["problem", "sampler"]].to_numpy(), strict=True):
            style = sampler_style(sampler)
            values = chains.loc[(chains["problem"] == problem) & (chains["sampler"] == sampler), "ap"]
            ax.plot(values, np.full(len(values), place), style.marker, color=style.colour, alpha=0.7, markersize=5)
            if (problem, sampler) in published.index:
                ax.plot(
                    published[problem, sampler], place, "|", color=PAPER, markersize=15, markeredgewidth=2.5, zorder=1
                )
        _problem_ticks(ax, ticks, origins_of(cells), titles)
        ax.set_xlabel("acceptance probability of the kept iterations, one mark per chain")
        mark = Line2D([], [], color=PAPER, linestyle="", marker="|", markersize=12, markeredgewidth=2.5, label="paper")
        sampler_legend(figure, cells["sampler"], marker=True, extra=[mark])
        return figure


def evaluations(chains: pd.DataFrame, titles: Titles) -> Figure:
    """Evaluations per kept iteration, means over chains: costs that do not depend on the machine.

    Parameters
    ----------
    chains
        One row per chain: problem, sampler, the counts per iteration, data (`rnshmc.results.metrics.metrics_frame`).
    titles
        Title of each problem.
    """
    origins = origins_of(chains)
    kinds = [kind for kind in EVALUATIONS if (chains[kind] > 0).any()]
    with theme():
        figure = Figure(figsize=(WIDTH, 0.8 + 1.7 * rows_of(origins)), layout="constrained")
        for ax, problem in problem_panels(figure, origins, titles, "evaluations per kept iteration"):
            counts = chains[chains["problem"] == problem].groupby("sampler")[kinds].mean()
            _evaluation_bars(ax, counts.loc[in_order(counts.index)[::-1]])
        patches = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=label)
            for label, colour, hatch in map(EVALUATIONS.__getitem__, kinds)
        ]
        figure.legend(handles=patches, loc="outside lower center", ncols=len(patches))
        return figure


def _evaluation_bars(ax: Axes, counts: pd.DataFrame) -> None:
    start = np.zeros(len(counts))
    for kind in counts.columns.astype(str):
        _, colour, hatch = EVALUATIONS[kind]
        ax.barh(range(len(counts)), counts[kind], left=start, color=colour, hatch=hatch, edgecolor="white", height=0.6)
        start += counts[kind].to_numpy()
    ax.set_yticks(range(len(counts)), [sampler_style(sampler).label for sampler in counts.index])
    ax.set_ylim(-0.6, len(counts) - 0.1)
    ax.grid(visible=False, axis="y")


def _efficiency_panel(ax: Axes, table: pd.DataFrame, errors: pd.DataFrame, column: str, places: list[float]) -> None:
    baseline = table[table["sampler"] == BASELINE].set_index("problem")[column]
    for place, (_, row), error in zip(places, table.iterrows(), errors[column], strict=True):
        style = sampler_style(row["sampler"])
        ax.errorbar(row[column], place, xerr=error, fmt=style.marker, color=style.colour, capsize=2, markersize=6)
        if row["sampler"] != BASELINE and row["problem"] in baseline.index:
            ratio = row[column] / baseline[row["problem"]]
            ax.annotate(
                f"× {ratio:.3g}",
                (row[column], place),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                color=INK,
                size="small",
            )


def _places(table: pd.DataFrame) -> tuple[list[float], dict[str, float]]:
    """Height of each row, with a gap between problems, and the height of each problem's label."""
    problems = table["problem"].tolist()
    order = list(dict.fromkeys(problems))
    places = [float(row + order.index(problem)) for row, problem in enumerate(problems)]
    heights = pd.Series(places).groupby(problems, sort=False).mean()
    return places, {str(problem): float(height) for problem, height in heights.items()}


def _problem_ticks(ax: Axes, ticks: Mapping[str, float], origins: Mapping[str, str], titles: Titles) -> None:
    labels = [titles[problem].replace(", ", ",\n") for problem in ticks]
    marks = [f"\n[{MARKS[origins[problem]]}]" if origins[problem] in MARKS else "" for problem in ticks]
    ax.set_yticks(list(ticks.values()), [label + mark for label, mark in zip(labels, marks, strict=True)])
    low, high = ax.dataLim.intervaly
    ax.set_ylim(high + 0.7, low - 0.7)
    ax.grid(visible=False, axis="y")
