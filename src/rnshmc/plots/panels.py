"""One panel for each problem, titled and marked: the layout of every figure over all problems."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.style import PAPER, mark_origin, plain

Titles = Mapping[str, str]
"""Title of each problem."""


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


def no_chain(ax: Axes) -> None:
    """Say in a panel that a sampler has no Markov chain to show there."""
    ax.text(0.5, 0.5, "no Markov chain", ha="center", va="center", transform=ax.transAxes, color=PAPER, size="small")
