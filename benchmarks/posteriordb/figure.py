"""The figure of posteriordb: units of each sampler on each posterior."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

STYLES = {
    "rnshmc": ("rnshmc.sample", "o", "#0072b2"),
    "nutpie_low_rank": ("nutpie, low rank", "s", "#d55e00"),
    "stan_nuts": ("Stan's NUTS", "^", "#7f7f7f"),
}
"""Label, marker and colour of each sampler."""


def draw(units: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """A row for each posterior, from above in the order given; a run that did not reach the goal is at the right."""
    figure = Figure(figsize=(7.5, 1.3 + 0.27 * len(units)), layout="constrained")
    axes = figure.add_subplot()
    reached = [u for runs in units.values() for of in runs.values() for u in of if np.isfinite(u)]
    beyond = 2.0 * max(reached, default=1.0)
    for sampler, (label, marker, colour) in STYLES.items():
        points = [(u, row) for row, runs in enumerate(units.values()) for u in runs[sampler]]
        x = np.array([min(u, beyond) for u, _ in points])
        rows, ended = np.array([row for _, row in points]), x < beyond
        axes.plot(x[ended], rows[ended], marker, color=colour, label=label, markersize=5, alpha=0.8, linestyle="none")
        axes.plot(x[~ended], rows[~ended], marker, color=colour, markersize=5, fillstyle="none", linestyle="none")
    axes.axvline(beyond / 1.4, color="0.7", linewidth=0.8)
    axes.text(beyond, -0.8, "not\nreached", ha="center", va="bottom", fontsize=7)
    axes.set(xscale="log", xlabel="units until the accuracy of 1000 independent draws", ylim=(len(units) - 0.5, -0.6))
    axes.set_yticks(range(len(units)), list(units))
    axes.grid(axis="both", color="0.9")
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=len(STYLES), frameon=False)
    return figure
