"""Autocorrelation of the draws of one problem."""

import numpy as np
from matplotlib.figure import Figure

from rnshmc.diagnostics.ess import autocorrelation
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import no_chain
from rnshmc.plots.style import WIDTH, mark_origin, plain, sampler_style, theme
from rnshmc.results.posterior import ProblemChains

MAX_LAG = 40


def autocorrelations(chains: ProblemChains, title: str) -> Figure:
    """Autocorrelation of the kept draws, averaged over chains: median of the coordinates, shaded from minimum to
    maximum. The panel of a sampler without Markov chains says so."""
    with theme():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots(1, len(chains.chains), sharex=True, sharey=True, squeeze=False)[0]
        for ax, sampler in zip(axes, chains.chains, strict=True):
            style = sampler_style(sampler)
            ax.set_title(style.label)
            if not (markov := chains.markov(sampler)):
                no_chain(ax)
                continue
            rho = np.mean([autocorrelation(chain)[: MAX_LAG + 1] for chain in markov], axis=0)
            lags = np.arange(len(rho))
            ax.fill_between(lags, rho.min(axis=1), rho.max(axis=1), color=style.colour, alpha=0.2, linewidth=0)
            ax.plot(lags, np.median(rho, axis=1), **style.drawing)
            ax.axhline(0, color="#777777", linewidth=0.8)
        figure.supxlabel("lag (iterations)", size="medium")
        axes[0].set_ylabel("autocorrelation")
        figure.suptitle(plain(title))
        mark_origin(figure, chains.origin)
        return figure


FIGURE = Drawing(
    name="autocorrelation",
    title="Autocorrelation",
    draw=autocorrelations,
    reads=("chains",),
    page="problem",
    caption="Of the kept draws on {{ problem }}, averaged over chains: the median of the coordinates, shaded from the "
    "least to the most correlated one.",
)
