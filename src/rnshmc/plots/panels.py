"""Layouts of figures over all problems: a panel for each problem, or a row for each problem and sampler."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.style import MARKS, WIDTH, mark_origin, plain
from rnshmc.results.names import Titles

ROW = 0.16
"""Height of a row in inches."""


def origins_of(table: pd.DataFrame) -> dict[str, str]:
    """Origin of the data of each problem (columns problem and data), in the order of the table."""
    return {
        str(problem): str(origin) for problem, origin in table.groupby("problem", sort=False)["data"].first().items()
    }


def problem_panels(
    table: pd.DataFrame, titles: Titles, xlabel: str, *, height: float, legend: float
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A figure with a panel for each problem, two in a row, titled, marked and labelled below; and each panel's rows.

    `height` and `legend` are the heights of a row of panels and of the legend in inches.
    """
    problems = list(table.groupby("problem", sort=False))
    rows = max(-(-len(problems) // 2), 1)
    figure = Figure(figsize=(WIDTH, legend + height * rows), layout="constrained")
    axes = figure.subplots(rows, 2, squeeze=False).ravel()
    for ax in axes[len(problems) :]:
        ax.set_axis_off()
    for ax, (problem, part) in zip(axes, problems, strict=False):
        ax.set_title(plain(titles[str(problem)]), size=9)
        mark_origin(ax, str(part["data"].iloc[0]))
    for ax in axes[: len(problems)][-2:]:
        ax.set_xlabel(xlabel)
    return figure, [(ax, part) for ax, (_, part) in zip(axes, problems, strict=False)]


def row_places(table: pd.DataFrame) -> tuple[list[float], dict[str, float]]:
    """Height of each row of a table, with a gap between problems, and the height of each problem's label."""
    problems = table["problem"].tolist()
    order = list(dict.fromkeys(problems))
    places = [float(row + order.index(problem)) for row, problem in enumerate(problems)]
    heights = pd.Series(places).groupby(problems, sort=False).mean()
    return places, {str(problem): float(height) for problem, height in heights.items()}


def problem_ticks(ax: Axes, ticks: Mapping[str, float], origins: Mapping[str, str], titles: Titles) -> None:
    """Label the problems at the left of a panel, marked where their data are not those of the papers."""
    labels = [plain(titles[problem]).replace(", ", ",\n") for problem in ticks]
    marks = [f"\n[{MARKS[origins[problem]]}]" if origins[problem] in MARKS else "" for problem in ticks]
    ax.set_yticks(list(ticks.values()), [label + mark for label, mark in zip(labels, marks, strict=True)])
    low, high = ax.dataLim.intervaly
    ax.set_ylim(high + 0.7, low - 0.7)
    ax.grid(visible=False, axis="y")
