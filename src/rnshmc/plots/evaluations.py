"""Evaluations of the exact potential and of its surrogate over all problems.

Exact evaluations are filled bars and those of the surrogate outlines: their costs differ by orders of magnitude.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import Titles, origins_of, problem_panels, rows_of
from rnshmc.plots.style import INK, PAPER, WIDTH, sampler_style
from rnshmc.results.names import in_order

EVALUATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "values_per_iter": ("exact potential", {"facecolor": INK, "edgecolor": "white"}),
    "gradients_per_iter": ("exact gradient", {"facecolor": "#7b8794", "edgecolor": "white", "hatch": "////"}),
    "metrics_per_iter": ("exact metric", {"facecolor": "#c9ced3", "edgecolor": "white", "hatch": "...."}),
    "surrogate_gradients_per_iter": ("surrogate gradient", {"facecolor": "none", "edgecolor": PAPER}),
}
"""Label and look of each kind, in the order of the bars."""


def evaluations(chains: pd.DataFrame, titles: Titles) -> Figure:
    """Evaluations per kept iteration, means over chains: costs that do not depend on the machine.

    `chains` is from `rnshmc.results.metrics.metrics_frame`.
    """
    origins = origins_of(chains)
    kinds = [kind for kind in EVALUATIONS if (chains[kind] > 0).any()]
    figure = Figure(figsize=(WIDTH, 0.8 + 1.7 * rows_of(origins)), layout="constrained")
    for ax, problem in problem_panels(figure, origins, titles, "evaluations per kept iteration"):
        # What is not counted, as gradients of the surrogate in `rnshmc.sample`, has no bar.
        counts = chains[chains["problem"] == problem].groupby("sampler")[kinds].mean().fillna(0.0)
        _evaluation_bars(ax, counts.loc[in_order(counts.index)[::-1]])
    patches = [Patch(label=label, **look) for label, look in map(EVALUATIONS.__getitem__, kinds)]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches))
    return figure


def _evaluation_bars(ax: Axes, counts: pd.DataFrame) -> None:
    start = np.zeros(len(counts))
    for kind in counts.columns.astype(str):
        # An outline of no width would be a line.
        lines = np.where(counts[kind] > 0, 0.8, 0.0)
        ax.barh(range(len(counts)), counts[kind], left=start, height=0.6, linewidth=lines, **EVALUATIONS[kind][1])
        start += counts[kind].to_numpy()
    ax.set_yticks(range(len(counts)), [sampler_style(sampler).label for sampler in counts.index])
    ax.set(xlim=(0, 1.05 * start.max()), ylim=(-0.6, len(counts) - 0.1))
    ax.grid(visible=False, axis="y")


FIGURE = Drawing(
    name="evaluations",
    title="Evaluations per kept iteration",
    draw=evaluations,
    reads=("metrics",),
    page="table1",
    caption="Evaluations of the exact potential, of its gradient and of the surrogate's gradient: costs that do not "
    "depend on the machine. Exact evaluations are filled, those of the surrogate are outlines.",
)
