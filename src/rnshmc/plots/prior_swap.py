"""A network under a prior other than that of its training (paper B, Fig. 4)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, WIDTH, coordinate_label, plain, sampler_style, theme
from rnshmc.results.names import in_order

PRIORS = (("#9ecae1", "o"), ("#b2182b", "^"))
"""Colour and marker of the draws under each prior, the wider one first: light and dark in grey."""


def prior_swap(draws: pd.DataFrame, acceptance: pd.DataFrame, title: str) -> Figure:
    """Draws of two coefficients under the prior of the training and under a narrower one, a panel per sampler (Fig. 4).

    Parameters
    ----------
    draws, acceptance
        `rnshmc.experiments.prior_swap.draws_table` and `acceptance_table`.
    title
        Title of the figure.
    """
    samplers = in_order(draws["sampler"])
    variances = sorted(draws["prior_variance"].unique(), reverse=True)
    rates = acceptance.set_index(["sampler", "prior_variance"])["acceptance"]
    x, y = (coordinate_label(int(draws[f"{axis}_coordinate"].iloc[0]), r"\beta") for axis in "xy")
    with theme():
        figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
        axes = figure.subplots(1, len(samplers), sharex=True, sharey=True, squeeze=False)[0]
        for ax, sampler in zip(axes, samplers, strict=True):
            for variance, (colour, marker) in zip(variances, PRIORS, strict=True):
                part = draws[(draws["sampler"] == sampler) & (draws["prior_variance"] == variance)]
                label = f"prior variance {variance:g}: acceptance {rates[sampler, variance]:.2f}"
                drawing = {"color": colour, "marker": marker, "markeredgecolor": INK, "markeredgewidth": 0.25}
                ax.plot(part["x"], part["y"], linestyle="", markersize=3.2, label=label, **drawing, rasterized=True)
            ax.set(title=sampler_style(sampler).label, xlabel=x)
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), markerscale=1.6)
        axes[0].set_ylabel(y)
        figure.suptitle(plain(title))
        return figure


FIGURE = Drawing(
    name="nng_fig4",
    title="Another prior, the same network (paper B, Fig. 4)",
    draw=prior_swap,
    reads=("nng_fig4_draws", "nng_fig4_acceptance"),
    page="gradient_logistic",
    config="experiments.nng_fig4",
    caption="Draws of two coefficients of a logistic regression in 200 dimensions by HMC (left) and by NNg-HMC "
    '(right), under the prior used for training the network and under one with standard deviation {{ "%.3g" | '
    "format(prior_sd) }}, where the difference of the priors' gradients is added to the same network. The two "
    "coefficients are those with the largest absolute posterior means under the first prior. Chains under the "
    "second prior start at the end of the exploration under the first; their first {{ burn_in }} iterations "
    "are discarded. At most 1000 evenly spaced draws of each are shown; under the second prior, where few of "
    "its proposals are accepted, NNg-HMC ran ten times as many iterations as HMC.",
)
