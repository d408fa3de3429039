"""Costs on several MPI ranks, and of the elliptic problem on finer meshes."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from rnshmc.experiments.scaling import speed_up
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, PAPER, WIDTH, log_axis

# Distinguishable in grey by marker and dashes; colours of Okabe and Ito.
_LOOKS: Sequence[tuple[str, Any, str]] = (
    ("#1f2933", "-", "o"),
    ("#d55e00", (0, (4, 1.5)), "s"),
    ("#0072b2", (0, (4, 1.5, 1, 1.5)), "^"),
    ("#009e73", (0, (1, 1)), "D"),
)
# Colours and markers that no sampler has; in grey, solvers differ by marker and numbers of ranks by line.
_SOLVERS: Mapping[str, tuple[str, str]] = {"direct": ("#882255", "p"), "multigrid": ("#44aa99", "d")}
_LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
# The reference, and the marker.
_ERRORS: Mapping[str, tuple[str, str]] = {
    "error_uniform": ("closed form, $c = 1$", "+"),
    "error": ("finest mesh", "x"),
}


def scaling(table: pd.DataFrame) -> Figure:
    """Draw seconds and speed-up of each piece of work, from a table with `rnshmc.experiments.scaling.COLUMNS`."""
    medians = speed_up(table)
    ranks = sorted(table["ranks"].unique())
    figure = Figure(figsize=(WIDTH, 3.8), layout=ConstrainedLayoutEngine(w_pad=0.08))
    seconds, faster = figure.subplots(1, 2)
    handles = []
    for what, (colour, line, marker) in zip(table["what"].unique(), cycle(_LOOKS), strict=False):
        rows, repeats = medians[medians["what"] == what], table[table["what"] == what]
        look = {"color": colour, "linestyle": line, "linewidth": 1.2}
        _marks(seconds, repeats, ("ranks", "seconds"), colour, marker)
        seconds.plot(rows["ranks"], rows["seconds"], **look)
        _marks(faster, rows, ("ranks", "speed_up"), colour, marker)
        faster.plot(rows["ranks"], rows["speed_up"], **look)
        label = f"{what}, {repeats['size'].iloc[0]:,} {repeats['unit'].iloc[0]}"
        handles.append(Line2D([], [], **look, marker=marker, markersize=4, label=label))
    faster.plot(ranks, [count / ranks[0] for count in ranks], color=PAPER, linewidth=0.8, zorder=1)
    handles.append(Line2D([], [], color=PAPER, linewidth=0.8, label="in proportion to the ranks"))
    handles += _load_handle(table, "measured under load", marker="o", markersize=4)
    seconds.set(title="Time", ylabel="seconds", yscale="log")
    faster.set(title="Speed-up", ylabel="times faster", ylim=(0, None))
    log_axis(seconds.yaxis)
    margin = 0.25 * ranks[0]
    for ax in (seconds, faster):
        ax.set(xlabel="MPI ranks", xlim=(ranks[0] - margin, ranks[-1] + margin))
        _ticks(ax, ranks)
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=7)
    return figure


def mesh_study(table: pd.DataFrame) -> Figure:
    """Draw errors, seconds and gains by the cells along a side: `rnshmc.experiments.mesh_study.mesh_table`."""
    figure = Figure(figsize=(WIDTH, 3.3), layout=ConstrainedLayoutEngine(w_pad=0.08))
    errors, seconds, gain = figure.subplots(1, 3)
    _errors(errors, table)
    lines = dict(zip(sorted(table["ranks"].unique()), cycle(_LINES), strict=False))
    handles = []
    for (solver, ranks), rows in table.groupby(["solver", "ranks"], sort=False):
        colour, marker = _SOLVERS[str(solver)]
        look = {"color": colour, "linestyle": lines[ranks], "linewidth": 1.2}
        for ax, column in ((seconds, "value_and_grad_s"), (gain, "gain")):
            ax.plot(rows["cells"], rows[column], **look)
            _marks(ax, rows, ("cells", column), colour, marker)
        label = f"{solver}, {ranks} rank{'s' if ranks != 1 else ''}"
        handles.append(Line2D([], [], **look, marker=marker, markersize=4, label=label))
    handles += _load_handle(table, "timed under load", marker="p")
    seconds.set(title="Value and gradient", ylabel="seconds", yscale="log")
    gain.set(title="Gain of RNS-HMC", ylabel="min ESS/s, times that of HMC", ylim=(0, None))
    log_axis(seconds.yaxis)
    cells = sorted(table["cells"].unique())
    for ax in (errors, seconds, gain):
        ax.set(xlabel="cells along a side", xscale="log")
        _ticks(ax, cells)
        ax.set_xticklabels(map(str, cells), fontsize=7)
    figure.legend(handles=handles, loc="outside lower right", ncols=3, fontsize=7)
    return figure


def _marks(ax: Axes, rows: pd.DataFrame, columns: tuple[str, str], colour: str, marker: str) -> None:
    """A mark for each row, hollow where it was measured under load."""
    faces = np.where(rows["loaded"], "none", colour)
    x, y = (rows[column] for column in columns)
    ax.scatter(x, y, s=18, marker=marker, c=faces, edgecolors=colour, linewidths=0.9, zorder=3)


def _ticks(ax: Axes, values: Sequence[int]) -> None:
    ax.xaxis.set_major_locator(FixedLocator(values))
    ax.xaxis.set_minor_locator(NullLocator())


def _load_handle(table: pd.DataFrame, label: str, **look: Any) -> list[Line2D]:
    """The entry of hollow marks in a legend, if the figure has any."""
    hollow = Line2D([], [], color=INK, linestyle="", markerfacecolor="none", label=label, **look)
    return [hollow] if table["loaded"].any() else []


def _errors(ax: Axes, table: pd.DataFrame) -> None:
    rows = table.drop_duplicates("cells").sort_values("cells")
    for column, (label, marker) in _ERRORS.items():
        ax.plot(rows["cells"], rows[column], color=INK, marker=marker, markersize=4, linewidth=1.2, label=label)
    cells: Any = rows["cells"].to_numpy()
    ax.plot(cells, rows["error_uniform"].iloc[0] * (cells[0] / cells) ** 2, color=PAPER, linewidth=0.8, label="order 2")
    ax.set(title="Error of the pressure", ylabel="largest difference at the sensors", yscale="log")
    ax.legend(fontsize=6.5)


SCALING = Drawing(
    name="scaling",
    title="Seconds and speed-up on several MPI ranks",
    draw=scaling,
    reads=("scaling",),
    page="parallel",
    config="scaling",
    caption='{{ ranks | join(" and ") }} ranks of one machine, {{ repeats }} repeats: the elliptic model solved at {{ '
    "ensemble.states }} independent states, with an adjoint solve for the gradient (for the finite differences at {{ "
    "ensemble.checked }} of them, without); a logistic regression with {{ logistic.rows }} rows in {{ "
    "logistic.dimension }} dimensions, with rows shared among the ranks and one Allreduce per evaluation ({{ "
    "logistic.evaluations }} repeats), and a chain of {{ logistic.iterations }} iterations of HMC on it, once. Dots "
    "are repeats, lines connect their medians; hollow dots were measured while other processes used the machine. The "
    "solves give identical bytes on any number of ranks, the logistic regression identical numbers to 1e-10 "
    "(tables/scaling_agreement.csv); the solves' gradients agree with central differences (tables/gradient_check.csv).",
)

MESH_STUDY = Drawing(
    name="mesh_study",
    title="The elliptic problem on finer meshes",
    draw=mesh_study,
    reads=("mesh_study",),
    page="parallel",
    config="mesh_study",
    caption="Left: largest error of the pressure at the sensors, for c = 1 compared with the closed form, and at {{ "
    "states }} states of the posterior compared with the finest mesh (which makes the last order appear better than it "
    "is). Middle: seconds for the potential and its gradient, that is, one factorisation or multigrid set-up and two "
    "solves, by PETSc's Cholesky factorisation on one rank, that of MUMPS on several, or conjugate gradients with "
    "hypre's multigrid on either. Right: ESS per second of RNS-HMC relative to HMC. Iterations are timed on each mesh; "
    "ESS per iteration and the surrogate are those of the chains on the problem's own mesh, since the posterior hardly "
    "changes (column potential_shift of the table). Hollow marks were timed while other processes used the machine.",
)
