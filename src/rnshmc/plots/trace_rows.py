"""Traces of one coefficient (paper B, Fig. 10)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, coordinate_label, mark_origin, plain, theme, variant_styles
from rnshmc.results.names import base_sampler

UNCORRECTED = "sghmc"
"""The sampler without a Metropolis step."""
MARGIN = 0.06


def trace_rows(table: pd.DataFrame, title: str) -> Figure:
    """Traces of one coefficient, a row for each sampler (Fig. 10).

    Samplers with a Metropolis step have the same axes. Those without have their own axes, because they move much
    farther.

    Parameters
    ----------
    table
        `rnshmc.results.network_posteriors.trace_table`.
    title
        Title of the figure.
    """
    styles = variant_styles(table["sampler"])
    corrected = table.loc[table["sampler"].map(base_sampler) != UNCORRECTED, "value"]
    with theme():
        figure = Figure(figsize=(WIDTH, 0.7 + 1.3 * len(styles)), layout="constrained")
        axes = figure.subplots(len(styles), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (sampler, style) in zip(axes, styles.items(), strict=True):
            part = table[table["sampler"] == sampler]
            ax.plot(part["iteration"], part["value"], color=style.colour, linewidth=0.6, rasterized=True)
            ax.margins(x=0, y=MARGIN)
            if base_sampler(sampler) == UNCORRECTED:
                ax.set_title(f"{style.label}: no Metropolis step")
            else:
                ax.set_title(f"{style.label}: acceptance {part['acceptance'].iloc[0]:.2f}")
                ax.update_datalim([(1, corrected.min()), (1, corrected.max())])
                ax.autoscale_view()
            ax.set_ylabel(coordinate_label(int(part["coordinate"].iloc[0]), r"\beta"))
        axes[-1].set_xlabel("iteration")
        figure.suptitle(plain(title))
        mark_origin(figure, str(table["data"].iloc[0]))
        return figure


FIGURE = Drawing(
    name="nng_fig10",
    title="Traces by NNg-HMC and SGHMC (paper B, Fig. 10)",
    draw=trace_rows,
    reads=("nng_fig10",),
    page="gradient_stochastic",
    problem="cover_type",
    caption="Traces of a coefficient of the logistic regression on Cover Type by NNg-HMC, by SGHMC with "
    "Metropolis-Hastings correction, and by SGHMC without correction: the first chain of each, for the number "
    "of iterations that all have. Titles give the acceptance. Without correction the chain moves much "
    "farther, so its axis has another scale. The coefficient is the first of Fig. 9.",
)
