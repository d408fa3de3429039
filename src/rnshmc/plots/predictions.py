"""Predictions of a Gaussian process (paper B, Fig. 8)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, plain, sampler_style, theme
from rnshmc.results.names import in_order

BAND_ALPHA = 0.22


def predictions(table: pd.DataFrame, title: str) -> Figure:
    """Predicted mean of a process along a line, and the band that contains it with probability 0.9 (Fig. 8).

    Parameters
    ----------
    table
        `rnshmc.experiments.predictions.predictions`.
    title
        Title of the figure.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        ax = figure.subplots()
        for sampler in in_order(table["sampler"]):
            part, style = table[table["sampler"] == sampler], sampler_style(sampler)
            ax.fill_between(part["x"], part["low"], part["high"], color=style.colour, alpha=BAND_ALPHA, linewidth=0)
            for edge in ("low", "high"):
                ax.plot(part["x"], part[edge], **style.drawing, linewidth=0.7)
            ax.plot(part["x"], part["mean"], **style.drawing, linewidth=1.6, label=style.label)
        ax.set(xlabel="$x_1$ (the other inputs 0)", ylabel="$f(x)$: mean and 90% band")
        ax.margins(x=0)
        ax.legend()
        figure.suptitle(plain(title))
        return figure


FIGURE = Drawing(
    name="nng_fig8",
    title="Predictions of the Gaussian process (paper B, Fig. 8)",
    draw=predictions,
    reads=("nng_fig8",),
    page="gradient_models",
    problem="gp_regression",
    caption="Posterior predictions of a Gaussian process regression along the first input, with the others at 0, from "
    "draws of HMC and of NNg-HMC: mean of the process and a band that contains it with probability 0.9 at "
    "each point, over at most 100 draws of the hyperparameters.",
)
