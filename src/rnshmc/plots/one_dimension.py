"""Surrogates of a parabola (paper A, Fig. 1)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, WIDTH, sampler_style, theme
from rnshmc.results.names import in_order

TRUTH: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.1}
SURROGATE_LABELS = {
    "rns_hmc": "network, additive",
    "rns_hmc_rbf": "network, RBF",
    "gp_hmc": "full GP",
    "fitc_hmc": "FITC",
}
"""Labels of the surrogates themselves, by the sampler that each drives."""


def one_dimension(points: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Surrogates of x^2 / 2, one panel per number of observations: the truth dashed, observations as points (Fig. 1).

    Parameters
    ----------
    points, curves
        `rnshmc.experiments.one_dimension.OneDimension`.
    """
    sizes = sorted(curves["n"].unique())
    with theme():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for ax, n in zip(axes, sizes, strict=True):
            part = curves[curves["n"] == n]
            x = np.sort(part["x"].unique())
            ax.plot(x, 0.5 * x**2, **TRUTH, zorder=1)
            for method in in_order(part["method"]):
                line = part[part["method"] == method]
                ax.plot(line["x"], line["mean"], **sampler_style(method).drawing, linewidth=1.6)
            seen = points[points["n"] <= n]
            ax.plot(seen["x"], seen["y"], "o", color=INK, markersize=2.6, markeredgewidth=0, alpha=0.75)
            ax.set(title=f"N = {n}", xlabel="x", xlim=(x[0], x[-1]), ylim=(-0.9, 8.4))
        axes[0].set_ylabel("potential")
        handles = [
            Line2D([], [], **TRUTH, label="$x^2/2$"),
            Line2D([], [], color=INK, linestyle="", marker="o", markersize=3, label="observations"),
        ]
        handles.extend(
            Line2D([], [], **sampler_style(method).drawing, label=SURROGATE_LABELS[method])
            for method in in_order(curves["method"])
        )
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.4)
        return figure


FIGURE = Drawing(
    name="fig1",
    title="Surrogates of a parabola (paper A, Fig. 1)",
    draw=one_dimension,
    reads=("fig1_points", "fig1"),
    page="surrogates",
    config="experiments.fig1",
    caption="Surrogates of x²/2 (dashed) from 10, 20 and 40 noisy observations at nested standard normal points. "
    "Random networks have five hidden units, FITC five inducing points; their lines are averages over {{ fits "
    "}} fits. The noise has standard deviation {{ noise_sd }}. The observations are those that the authors "
    "published, or ours if those were unavailable: the column data of tables/fig1_points.csv says which.",
)
