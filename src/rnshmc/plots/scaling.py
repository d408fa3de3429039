"""Seconds and speed-up over the number of MPI ranks."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from rnshmc.experiments.scaling import speed_up
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, PAPER, WIDTH, log_axis, theme

# Distinguishable in grey by marker and dashes; colours of Okabe and Ito.
_LOOKS: Sequence[tuple[str, Any, str]] = (
    ("#1f2933", "-", "o"),
    ("#d55e00", (0, (4, 1.5)), "s"),
    ("#0072b2", (0, (4, 1.5, 1, 1.5)), "^"),
    ("#009e73", (0, (1, 1)), "D"),
)


def scaling(table: pd.DataFrame) -> Figure:
    """Seconds of each piece of work, a dot for each repeat and a line through the medians, and the speed-up.

    Parameters
    ----------
    table
        `rnshmc.experiments.scaling.COLUMNS`. Hollow dots were measured while other processes used the machine.
    """
    medians = speed_up(table)
    ranks = sorted(table["ranks"].unique())
    with theme():
        figure = Figure(figsize=(WIDTH, 3.8), layout=ConstrainedLayoutEngine(w_pad=0.08))
        seconds, faster = figure.subplots(1, 2)
        for what, (colour, line, marker) in _looks(medians):
            rows = medians[medians["what"] == what]
            _dots(seconds, table[table["what"] == what], "seconds", colour, marker)
            seconds.plot(rows["ranks"], rows["seconds"], color=colour, linestyle=line, linewidth=1.2)
            _dots(faster, rows, "speed_up", colour, marker)
            faster.plot(rows["ranks"], rows["speed_up"], color=colour, linestyle=line, linewidth=1.2)
        faster.plot(ranks, [count / ranks[0] for count in ranks], color=PAPER, linewidth=0.8, zorder=1)
        seconds.set(title="Time", ylabel="seconds", yscale="log")
        faster.set(title="Speed-up", ylabel="times faster", ylim=(0, None))
        log_axis(seconds.yaxis)
        for ax in (seconds, faster):
            _rank_axis(ax, ranks)
        figure.legend(handles=list(_handles(table)), loc="outside lower center", ncols=2, fontsize=7)
        return figure


def _looks(table: pd.DataFrame) -> Iterator[tuple[str, tuple[str, Any, str]]]:
    return zip(table["what"].unique(), cycle(_LOOKS), strict=False)


def _dots(ax: Axes, rows: pd.DataFrame, column: str, colour: str, marker: str) -> None:
    faces = ["none" if loaded else colour for loaded in rows["loaded"]]
    ax.scatter(rows["ranks"], rows[column], s=18, marker=marker, c=faces, edgecolors=colour, linewidths=0.9, zorder=3)


def _rank_axis(ax: Axes, ranks: Sequence[int]) -> None:
    margin = 0.25 * ranks[0]
    ax.set(xlabel="MPI ranks", xlim=(ranks[0] - margin, ranks[-1] + margin))
    ax.xaxis.set_major_locator(FixedLocator(ranks))
    ax.xaxis.set_minor_locator(NullLocator())


def _handles(table: pd.DataFrame) -> Iterator[Line2D]:
    for what, (colour, line, marker) in _looks(table):
        work = table[table["what"] == what].iloc[0]
        label = f"{what}, {work['size']:,} {work['unit']}"
        yield Line2D([], [], color=colour, linestyle=line, linewidth=1.2, marker=marker, markersize=4, label=label)
    yield Line2D([], [], color=PAPER, linewidth=0.8, label="in proportion to the ranks")
    if table["loaded"].any():
        label = "measured under load"
        yield Line2D([], [], color=INK, linestyle="", marker="o", markersize=4, markerfacecolor="none", label=label)


FIGURE = Drawing(
    name="scaling",
    title="Seconds and speed-up on several MPI ranks",
    draw=scaling,
    reads=("scaling",),
    page="parallel",
    config="scaling",
    caption='{{ ranks | join(" and ") }} ranks of one machine, {{ repeats }} repeats: the elliptic model solved at {{ '
    "ensemble.states }} independent states, with an adjoint solve for the gradient (for the finite "
    "differences at {{ ensemble.checked }} of them, without); a logistic regression with {{ logistic.rows }} "
    "rows in {{ logistic.dimension }} dimensions, with rows shared among the ranks and one Allreduce per "
    "evaluation ({{ logistic.evaluations }} repeats), and a chain of {{ logistic.iterations }} iterations of "
    "HMC on it, once. Dots are repeats, lines connect their medians; hollow dots were measured while other "
    "processes used the machine. The solves give identical bytes on any number of ranks, the logistic "
    "regression identical numbers to 1e-10 (tables/scaling_agreement.csv); the solves' gradients agree with "
    "central differences (tables/gradient_check.csv).",
)
