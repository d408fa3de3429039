"""Training loss of gradient networks (paper B, Fig. 5)."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

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
