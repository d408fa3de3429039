"""Traces of one coefficient (paper B, Fig. 10)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.style import WIDTH, coordinate_label, mark_origin, sampler_style, theme
from rnshmc.results.names import in_order


def trace_rows(table: pd.DataFrame, title: str) -> Figure:
    """Traces of one coefficient, a row for each sampler, on the same axes (Fig. 10).

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.trace_table`.
    title
        Title of the figure.
    """
    samplers = in_order(table["sampler"])
    with theme():
        figure = Figure(figsize=(WIDTH, 0.7 + 1.6 * len(samplers)), layout="constrained")
        axes = figure.subplots(len(samplers), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for ax, sampler in zip(axes, samplers, strict=True):
            part, style = table[table["sampler"] == sampler], sampler_style(sampler)
            ax.plot(part["iteration"], part["value"], color=style.colour, linewidth=0.6, rasterized=True)
            ax.set(title=style.label, ylabel=coordinate_label(int(part["coordinate"].iloc[0]), r"\beta"))
            ax.margins(x=0)
        axes[-1].set_xlabel("iteration")
        figure.suptitle(title)
        mark_origin(figure, str(table["data"].iloc[0]))
        return figure
