"""The elliptic problem on finer meshes: error, cost, and the gain of RNS-HMC over HMC."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, PAPER, WIDTH, log_axis, theme

# Colours and markers that no sampler has; in grey, solvers differ by marker and numbers of ranks by line.
_SOLVERS: Mapping[str, tuple[str, str]] = {"direct": ("#882255", "p"), "multigrid": ("#44aa99", "d")}
_LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
# The reference, and the marker.
_ERRORS: Mapping[str, tuple[str, str]] = {
    "error_uniform": ("closed form, $c = 1$", "+"),
    "error": ("finest mesh", "x"),
}


def mesh_study(table: pd.DataFrame) -> Figure:
    """Error of the pressure, seconds of a value and gradient, and gain, against the cells along a side.

    Parameters
    ----------
    table
        `rnshmc.experiments.mesh_study.mesh_table`. Hollow marks were timed under load.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 3.3), layout=ConstrainedLayoutEngine(w_pad=0.08))
        errors, seconds, gain = figure.subplots(1, 3)
        _errors(errors, table)
        for (solver, ranks), rows in table.groupby(["solver", "ranks"], sort=False):
            _curve(seconds, rows, "value_and_grad_s", solver, _line(table, ranks))
            _curve(gain, rows, "gain", solver, _line(table, ranks))
        seconds.set(title="Value and gradient", ylabel="seconds", yscale="log")
        gain.set(title="Gain of RNS-HMC", ylabel="min ESS/s, times that of HMC", ylim=(0, None))
        log_axis(seconds.yaxis)
        for ax in (errors, seconds, gain):
            _mesh_axis(ax, sorted(table["cells"].unique()))
        figure.legend(handles=_handles(table), loc="outside lower right", ncols=3, fontsize=7)
        return figure


def _errors(ax: Axes, table: pd.DataFrame) -> None:
    rows = table.drop_duplicates("cells").sort_values("cells")
    for column, (label, marker) in _ERRORS.items():
        ax.plot(rows["cells"], rows[column], color=INK, marker=marker, markersize=4, linewidth=1.2, label=label)
    cells: Any = rows["cells"].to_numpy()
    ax.plot(cells, rows["error_uniform"].iloc[0] * (cells[0] / cells) ** 2, color=PAPER, linewidth=0.8, label="order 2")
    ax.set(title="Error of the pressure", ylabel="largest difference at the sensors", yscale="log")
    ax.legend(fontsize=6.5)


def _curve(ax: Axes, rows: pd.DataFrame, column: str, solver: Any, line: Any) -> None:
    colour, marker = _SOLVERS[solver]
    ax.plot(rows["cells"], rows[column], color=colour, linestyle=line, linewidth=1.2)
    faces = np.where(rows["loaded"], "none", colour)
    ax.scatter(rows["cells"], rows[column], s=18, marker=marker, c=faces, edgecolors=colour, linewidths=0.9, zorder=3)


def _line(table: pd.DataFrame, ranks: Any) -> Any:
    return _LINES[sorted(table["ranks"].unique()).index(ranks) % len(_LINES)]


def _mesh_axis(ax: Axes, cells: list[int]) -> None:
    ax.set(xlabel="cells along a side", xscale="log")
    ax.xaxis.set_major_locator(FixedLocator(cells))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels(map(str, cells), fontsize=7)


def _handles(table: pd.DataFrame) -> list[Line2D]:
    handles = []
    for solver, ranks in table[["solver", "ranks"]].drop_duplicates().itertuples(index=False):
        colour, marker = _SOLVERS[solver]
        label = f"{solver}, {ranks} rank{'s' if ranks > 1 else ''}"
        look = {"color": colour, "marker": marker, "linestyle": _line(table, ranks)}
        handles.append(Line2D([], [], **look, markersize=4, linewidth=1.2, label=label))
    if table["loaded"].any():
        label = "timed under load"
        handles.append(Line2D([], [], color=INK, linestyle="", marker="p", markerfacecolor="none", label=label))
    return handles


FIGURE = Drawing(
    name="mesh_study",
    title="The elliptic problem on finer meshes",
    draw=mesh_study,
    reads=("mesh_study",),
    page="parallel",
    config="mesh_study",
    caption="Left: largest error of the pressure at the sensors, for c = 1 compared with the closed form, and at {{ "
    "states }} states of the posterior compared with the finest mesh (which makes the last order appear "
    "better than it is). Middle: seconds for the potential and its gradient, that is, one factorisation or "
    "multigrid set-up and two solves, by PETSc's Cholesky factorisation on one rank, that of MUMPS on "
    "several, or conjugate gradients with hypre's multigrid on either. Right: ESS per second of RNS-HMC "
    "relative to HMC. Iterations are timed on each mesh; ESS per iteration and the surrogate are those of the "
    "chains on the problem's own mesh, since the posterior hardly changes (column potential_shift of the "
    "table). Hollow marks were timed while other processes used the machine.",
)
