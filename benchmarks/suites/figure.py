"""The figure of a suite: units of each sampler on each posterior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.style import INK, PAPER, WIDTH, theme


@dataclass(frozen=True)
class Style:
    """How a sampler is drawn."""

    label: str
    marker: str
    colour: str


OURS = Style("rnshmc.sample", "o", "#0072b2")
FIRST_OTHER = ("s", "#d55e00")
SECOND_OTHER = ("^", "#7f7f7f")
"""Marker and colour of the samplers beside ours."""
ROWS = 6
"""Posteriors in a panel; where there are more, two panels share them."""

Units = Mapping[str, Mapping[str, Sequence[float]]]
"""By posterior, then sampler: units of each run, infinite where the goal was not reached."""


def draw(units: Units, styles: Mapping[str, Style], unit: str) -> Figure:
    """A row for each posterior, in the order given; a run that did not reach the goal is at the right.

    Parameters
    ----------
    units
        Of each run.
    styles
        By sampler.
    unit
        What is counted, in the plural.
    """
    columns = 2 if len(units) > ROWS else 1
    rows = -(-len(units) // columns)
    reached = [u for runs in units.values() for of in runs.values() for u in of if np.isfinite(u)]
    beyond = 2.0 * max(reached, default=1.0)
    with theme():
        figure = Figure(figsize=(WIDTH, 1.0 + 0.32 * rows), layout="constrained")
        panels = figure.subplots(1, columns, sharex=True, squeeze=False)[0]
        for k, axes in enumerate(panels):
            names = list(units)[k * rows : (k + 1) * rows]
            _panel(axes, {name: units[name] for name in names}, styles, beyond)
            axes.set_ylim(rows - 0.5, -0.6)
        figure.supxlabel(f"{unit} until the accuracy of 1000 independent draws", size="medium")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(styles))
        return figure


def _panel(axes: Axes, units: Units, styles: Mapping[str, Style], beyond: float) -> None:
    for sampler, style in styles.items():
        points = [(u, row) for row, runs in enumerate(units.values()) for u in runs[sampler]]
        x = np.array([min(u, beyond) for u, _ in points])
        rows, ended = np.array([row for _, row in points]), x < beyond
        m, colour = style.marker, style.colour
        axes.plot(x[ended], rows[ended], m, color=colour, label=style.label, alpha=0.8, linestyle="none")
        axes.plot(x[~ended], rows[~ended], m, color=colour, fillstyle="none", linestyle="none")
    axes.axvline(beyond / 1.4, color=PAPER, linewidth=0.8)
    axes.text(beyond, -0.7, "not\nreached", ha="center", va="bottom", size=7, color=INK)
    axes.set_xscale("log")
    axes.set_yticks(range(len(units)), [name.replace("-", "-\n", 1) for name in units], size=7.5)
