"""One row for each problem and sampler: the layout of figures that compare all cells of Table 1."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from rnshmc.plots.panels import Titles
from rnshmc.plots.style import MARKS, plain

ROW = 0.16
"""Height of a row in inches."""


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
