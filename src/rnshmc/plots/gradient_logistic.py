"""Another prior for the same network, and designs of networks (paper B, Figs. 4 and 5)."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, WIDTH, coefficient_label, log_axis, sampler_style, with_title
from rnshmc.results.names import in_order

PRIORS = (("#9ecae1", "o"), ("#b2182b", "^"))
"""Colour and marker of the draws under each prior, the wider one first: light and dark in grey."""
DESIGNS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "large": ("#1f2933", ()),
    "small": ("#d55e00", (4, 1.5)),
    "blocks": ("#0072b2", (1.2, 1.2)),
}
"""Colour and dashes of the networks that paper B compares."""
BAND_ALPHA = 0.22


def prior_swap(draws: pd.DataFrame, acceptance: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 4 from tables of `draws_table` and `acceptance_table` of `rnshmc.experiments.prior_swap`."""
    samplers = in_order(draws["sampler"])
    variances = sorted(draws["prior_variance"].unique(), reverse=True)
    rates = acceptance.set_index(["sampler", "prior_variance"])["acceptance"]
    x, y = (coefficient_label(int(draws[f"{axis}_coordinate"].iloc[0])) for axis in "xy")
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
    return with_title(figure, title)


FIG4 = Drawing(
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


def training_losses(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 5 from tables of `rnshmc.experiments.network_designs.training_losses`, one below the other."""
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
    return with_title(figure, title)


FIG5 = Drawing(
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
