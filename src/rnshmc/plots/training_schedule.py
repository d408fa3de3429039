"""Seconds by draws of a chain with a schedule of training (paper B, Fig. 1)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, plain, sampler_style, theme


def training_schedule(table: pd.DataFrame, title: str) -> Figure:
    """Seconds by draws: HMC until a network is accepted about as often, and that network from then on (Fig. 1).

    Parameters
    ----------
    table
        From `rnshmc.experiments.training_schedule.schedule_table`.
    title
        Title of the figure.
    """
    exact, network = sampler_style("hmc"), sampler_style("nng_hmc")
    with theme():
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        ax = figure.subplots()
        ax.plot([0, *table["draws"]], [0, *table["hmc_seconds"]], color=exact.colour, label=exact.label)
        label = f"{network.label} by a schedule"
        ax.plot([0, *table["draws"]], [0, *table["seconds"]], color=network.colour, label=label)
        trained = table[table["kind"] == "training"]
        ax.plot(trained["draws"], trained["seconds"], "o", color=network.colour, markersize=4, label="training")
        ax.set(xlabel="draws", ylabel="seconds", xlim=(0, table["draws"].max()), ylim=(0, None))
        ax.legend()
        figure.suptitle(plain(title))
        return figure


FIGURE = Drawing(
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
