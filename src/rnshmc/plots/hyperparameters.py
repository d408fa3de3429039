"""Posterior densities with samplers overlaid (paper B, Fig. 7)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, SamplerStyle, mark_origin, plain, theme, variant_styles
from rnshmc.results.estimates import BASELINE


def hyperparameters(table: pd.DataFrame, title: str) -> Figure:
    """Posterior densities of the length scale and the noise variance of a Gaussian process regression (Fig. 7).

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.single_marginals`.
    title
        Title of the figure.
    """
    figure, axes = _panels(table, title)
    for number, name in {1: "length scale $l$", 2: r"noise variance $\sigma^2$"}.items():
        axes[number].set_xlabel(name)
    axes[1].set_ylabel("posterior density")
    return figure


def _panels(table: pd.DataFrame, title: str) -> tuple[Figure, dict[int, Axes]]:
    """A panel for each coordinate, by its number."""
    coordinates = [int(number) for number in table["x_coordinate"].unique()]
    styles = variant_styles(table["sampler"])
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        axes = dict(zip(coordinates, figure.subplots(1, len(coordinates), squeeze=False)[0], strict=True))
        for number, ax in axes.items():
            part = table[table["x_coordinate"] == number]
            for sampler, style in styles.items():
                _density(ax, part[part["sampler"] == sampler], style, filled=sampler == BASELINE)
            ax.set_ylim(bottom=0)
            ax.locator_params(axis="x", nbins=6)
        handles = [Line2D([], [], **style.drawing, label=style.label) for style in styles.values()]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        figure.suptitle(plain(title))
        mark_origin(figure, str(table["data"].iloc[0]))
    return figure, axes


def _density(ax: Axes, curve: pd.DataFrame, style: SamplerStyle, *, filled: bool) -> None:
    ax.plot(curve["x"], curve["density"], **style.drawing, linewidth=1.4)
    if filled:
        ax.fill_between(curve["x"], np.zeros(len(curve)), curve["density"], color=style.colour, alpha=0.12, linewidth=0)


FIGURE = Drawing(
    name="nng_fig7",
    title="Hyperparameters of the Gaussian process (paper B, Fig. 7)",
    draw=hyperparameters,
    reads=("nng_fig7",),
    page="gradient_models",
    problem="gp_regression",
    caption="Posterior densities of the hyperparameters of a Gaussian process regression by HMC and by NNg-HMC. The "
    "chains sample their logarithms.",
)
