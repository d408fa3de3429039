"""Training loss of gradient networks (paper B, Fig. 5)."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, log_axis, plain, theme

DESIGNS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "large": ("#1f2933", ()),
    "small": ("#d55e00", (4, 1.5)),
    "blocks": ("#0072b2", (1.2, 1.2)),
}
"""Colour and dashes of the networks that paper B compares."""
BAND_ALPHA = 0.22


def training_losses(table: pd.DataFrame, title: str) -> Figure:
    """Training loss of networks of several designs: mean over the chains, shaded from minimum to maximum (Fig. 5).

    Parameters
    ----------
    table
        `rnshmc.experiments.network_designs.training_losses` of each chain, one below the other.
    title
        Title of the figure.
    """
    with theme():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        ax = figure.subplots()
        for network in table["network"].unique():
            part = table[table["network"] == network]
            colour, dashes = DESIGNS[network]
            by_epoch = part.groupby("epoch")["loss"]
            mean = by_epoch.mean()
            label = f"{network}: {part['weights'].iloc[0]:,} weights".replace(",", " ")
            ax.plot(mean.index, mean, color=colour, dashes=dashes, linewidth=1.6, label=label)
            ax.fill_between(mean.index, by_epoch.min(), by_epoch.max(), color=colour, alpha=BAND_ALPHA, linewidth=0)
        ax.set(xlabel="epoch", ylabel="training loss", yscale="log")
        log_axis(ax.yaxis)
        ax.legend()
        figure.suptitle(plain(title))
        return figure


FIGURE = Drawing(
    name="nng_fig5",
    title="Training losses of three designs of networks (paper B, Fig. 5)",
    draw=training_losses,
    reads=("nng_fig5",),
    page="gradient_logistic",
    config="experiments.nng_fig5",
    caption="Training loss of gradient networks of three designs on the gradients of the same explorations: {% for "
    'name, design in designs.items() %}{{ ", " if not loop.first }}{{ name }} with {{ design.blocks }} hidden '
    'layer{{ "s" if design.blocks > 1 }} of {{ design.hidden_units }} units{% endfor %}. The loss is half the '
    "mean squared error of the gradient's components. Lines are means over the explorations, bands extend "
    "from the lowest to the highest. Adam's step size is constant: once a step is as large as the remaining "
    "error, losses stop falling, fluctuate, and may rise a little.",
)
