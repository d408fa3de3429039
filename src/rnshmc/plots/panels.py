"""Layouts of figures over all problems: a panel for each problem, or a row for each problem and sampler."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.style import MARKS, mark_origin, plain

Titles = Mapping[str, str]
"""Title of each problem."""
ROW = 0.16
"""Height of a row in inches."""


def origins_of(table: pd.DataFrame) -> dict[str, str]:
    """Origin of the data of each problem (columns problem and data), in the order of the table."""
    return {
        str(problem): str(origin) for problem, origin in table.groupby("problem", sort=False)["data"].first().items()
    }


def rows_of(problems: Collection[str]) -> int:
    """Rows of a grid with two columns."""
    return -(-len(problems) // 2)


def problem_panels(
    figure: Figure, origins: Mapping[str, str], titles: Titles, xlabel: str
) -> Iterator[tuple[Axes, str]]:
    """A panel for each problem, two in a row, titled, marked and labelled below."""
    axes = figure.subplots(max(rows_of(origins), 1), 2, squeeze=False).ravel()
    for ax in axes[len(origins) :]:
        ax.set_axis_off()
    for place, (problem, origin) in enumerate(origins.items()):
        axes[place].set_title(plain(titles[problem]), size=9)
        mark_origin(axes[place], origin)
        if place + 2 >= len(origins):
            axes[place].set_xlabel(xlabel)
        yield axes[place], problem


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
