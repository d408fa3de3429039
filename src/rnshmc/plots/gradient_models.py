"""The GARCH model and the Gaussian process regression of paper B (Figs. 1, 6, 7 and 8)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, WIDTH, sampler_style, variant_styles, with_title
from rnshmc.results.names import in_order

EXACT, NETWORK = "hmc", "nng_hmc"
LABELS = {1: "length scale $l$", 2: r"noise variance $\sigma^2$"}
"""Of the coordinates, by their numbers."""
BAND_ALPHA = 0.22


def training_schedule(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 1 from a table of `rnshmc.experiments.training_schedule.schedule_table`."""
    exact, network = sampler_style(EXACT), sampler_style(NETWORK)
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, *table["draws"]], [0, *table["hmc_seconds"]], color=exact.colour, label=exact.label)
    label = f"{network.label} by a schedule"
    ax.plot([0, *table["draws"]], [0, *table["seconds"]], color=network.colour, label=label)
    trained = table[table["kind"] == "training"]
    ax.plot(trained["draws"], trained["seconds"], "o", color=network.colour, markersize=4, label="training")
    ax.set(xlabel="draws", ylabel="seconds", xlim=(0, table["draws"].max()), ylim=(0, None))
    ax.legend()
    return with_title(figure, title)


FIG1 = Drawing(
    name="nng_fig1",
    title="Seconds with a schedule of training (paper B, Fig. 1)",
    draw=training_schedule,
    reads=("nng_fig1",),
    page="gradient_models",
    config="experiments.nng_fig1",
    caption="Processor seconds by draws of one chain: HMC for {{ schedule.start }} draws, a training of the network "
    "every {{ schedule.every }} from then to {{ schedule.end }}, each followed by {{ schedule.trial }} draws with it. "
    "Once its acceptance is at most {{ schedule.tolerance }} below that of HMC, the network draws the rest. The other "
    "line has the seconds per draw of HMC in the same chain.",
)


def series(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 6, a time series: columns t and y."""
    figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
    ax = figure.subplots()
    ax.plot(table["t"], table["y"], color=INK, linewidth=0.6)
    ax.set(xlabel="observation $t$", ylabel="$y_t$", xlim=(table["t"].min(), table["t"].max()))
    return with_title(figure, title)


FIG6 = Drawing(
    name="nng_fig6",
    title="The series of the GARCH model (paper B, Fig. 6)",
    draw=series,
    reads=("nng_fig6",),
    page="gradient_models",
    problem="garch",
    caption="The simulated series whose GARCH(2, 1) model is sampled.",
)


def hyperparameters(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 7 from a table of `rnshmc.results.network_posteriors.single_marginals`."""
    coordinates = [int(number) for number in table["x_coordinate"].unique()]
    styles = variant_styles(table["sampler"])
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots(1, len(coordinates), squeeze=False)[0]
    for ax, number in zip(axes, coordinates, strict=True):
        part = table[table["x_coordinate"] == number]
        for sampler, style in styles.items():
            curve = part[part["sampler"] == sampler]
            ax.plot(curve["x"], curve["density"], **style.drawing, linewidth=1.4)
            if sampler == EXACT:
                ax.fill_between(curve["x"], 0, curve["density"], color=style.colour, alpha=0.12, linewidth=0)
        ax.set_ylim(bottom=0)
        ax.locator_params(axis="x", nbins=6)
        ax.set_xlabel(LABELS[number])
    axes[0].set_ylabel("posterior density")
    handles = [Line2D([], [], **style.drawing, label=style.label) for style in styles.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return with_title(figure, title, str(table["data"].iloc[0]))


FIG7 = Drawing(
    name="nng_fig7",
    title="Hyperparameters of the Gaussian process (paper B, Fig. 7)",
    draw=hyperparameters,
    reads=("nng_fig7",),
    page="gradient_models",
    problem="gp_regression",
    caption="Posterior densities of the hyperparameters of a Gaussian process regression by HMC and by NNg-HMC. The "
    "chains sample their logarithms.",
)


def predictions(table: pd.DataFrame, title: str) -> Figure:
    """Draw Fig. 8 from a table of `rnshmc.experiments.predictions.predictions`."""
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
    return with_title(figure, title)


FIG8 = Drawing(
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
