"""The figure of a suite: units of each sampler on each posterior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure


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


def draw(units: Mapping[str, Mapping[str, Sequence[float]]], styles: Mapping[str, Style], unit: str) -> Figure:
    """A row for each posterior, from above in the order given; a run that did not reach the goal is at the right.

    Parameters
    ----------
    units
        By posterior, then sampler: of each run, infinite where the goal was not reached.
    styles
        By sampler.
    unit
        What is counted, in the plural.
    """
    figure = Figure(figsize=(7.5, 1.3 + 0.27 * len(units)), layout="constrained")
    axes = figure.add_subplot()
    reached = [u for runs in units.values() for of in runs.values() for u in of if np.isfinite(u)]
    beyond = 2.0 * max(reached, default=1.0)
    for sampler, style in styles.items():
        points = [(u, row) for row, runs in enumerate(units.values()) for u in runs[sampler]]
        x = np.array([min(u, beyond) for u, _ in points])
        rows, ended = np.array([row for _, row in points]), x < beyond
        m, colour = style.marker, style.colour
        axes.plot(x[ended], rows[ended], m, color=colour, label=style.label, markersize=5, alpha=0.8, linestyle="none")
        axes.plot(x[~ended], rows[~ended], m, color=colour, markersize=5, fillstyle="none", linestyle="none")
    axes.axvline(beyond / 1.4, color="0.7", linewidth=0.8)
    axes.text(beyond, -0.8, "not\nreached", ha="center", va="bottom", fontsize=7)
    axes.set(xscale="log", xlabel=f"{unit} until the accuracy of 1000 independent draws", ylim=(len(units) - 0.5, -0.6))
    axes.set_yticks(range(len(units)), list(units))
    axes.grid(axis="both", color="0.9")
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=len(styles), frameon=False)
    return figure
