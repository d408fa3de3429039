"""Efficiency of every sampler over all problems."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import ROW, origins_of, problem_ticks, row_places
from rnshmc.plots.style import INK, WIDTH, log_axis, sampler_legend, sampler_style
from rnshmc.results.estimates import BASELINE
from rnshmc.results.names import Titles

LEFT, RIGHT = 0.08, 0.4
"""Room on either side of the marks, as shares of the decades between them: a number is a fifth of a panel wide."""
LOOK: dict[str, Any] = {"xytext": (9, 0), "textcoords": "offset points", "va": "center", "color": INK, "size": "small"}


def efficiency(table: pd.DataFrame, errors: pd.DataFrame, titles: Titles) -> Figure:
    """Smallest ESS per second and per exact evaluation, with standard errors; numbers are ratios to HMC.

    A sampler without a speed-up, because its chains or those of HMC did not mix, has no number. `table` and `errors`
    are the view ``table1`` of the results and its standard errors, in the same rows.
    """
    figure = Figure(figsize=(WIDTH, 0.9 + ROW * (len(table) + table["problem"].nunique())), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    places, ticks = row_places(table)
    panels = {"min_ess_per_s": "min ESS per second", "min_ess_per_value": "min ESS per exact evaluation"}
    for ax, (column, label) in zip(axes, panels.items(), strict=True):
        _efficiency_panel(ax, table, errors, column, places)
        ax.set(xscale="log", xlabel=label)
        ax.set_xlim(*_with_room(table[column], errors[column]))
        log_axis(ax.xaxis)
        ax.grid(visible=False, axis="y")
    problem_ticks(axes[0], ticks, origins_of(table), titles)
    sampler_legend(figure, table["sampler"], marker=True)
    return figure


def _with_room(values: "pd.Series[float]", errors: "pd.Series[float]") -> tuple[float, float]:
    """Limits of a logarithmic axis that contain all marks and the number to the right of each.

    An error bar that reaches zero has no end on such an axis, and does not count.
    """
    ends = pd.concat([values, values - errors, values + errors])
    if not (ends > 0).any():
        return 0.1, 10.0
    low, high = (np.log10(end) for end in (ends[ends > 0].min(), ends.max()))
    span = max(high - low, 1.0)
    return 10 ** (low - LEFT * span), 10 ** (high + RIGHT * span)


def _efficiency_panel(ax: Axes, table: pd.DataFrame, errors: pd.DataFrame, column: str, places: list[float]) -> None:
    baseline = table[table["sampler"] == BASELINE].set_index("problem")[column]
    for place, (_, row), error in zip(places, table.iterrows(), errors[column], strict=True):
        style = sampler_style(row["sampler"])
        ax.errorbar(row[column], place, xerr=error, fmt=style.marker, color=style.colour, capsize=2, markersize=6)
        if pd.notna(row["speedup"]):
            ratio = row[column] / baseline[row["problem"]]
            ax.annotate(_ratio_text(row["sampler"], ratio), (row[column], place), **LOOK)


def _ratio_text(sampler: str, ratio: float) -> str:
    if sampler == BASELINE:
        return f"{sampler_style(sampler).label} = 1"
    return f"× {ratio:.3g}" if ratio < 1000 else f"× {ratio:.0f}"


FIGURE = Drawing(
    name="efficiency",
    title="Minimum ESS per second and per exact evaluation",
    draw=efficiency,
    reads=("table1", "table1_se"),
    page="table1",
    caption="Minimum over the coordinates, for the kept iterations, with standard errors. Numbers are ratios to HMC; "
    "there is none where chains of the sampler or of HMC did not mix (R-hat above 1.1).",
)
