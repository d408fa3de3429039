"""A time series (paper B, Fig. 6)."""

import pandas as pd
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, WIDTH, plain, theme


def series(table: pd.DataFrame, title: str) -> Figure:
    """A time series (Fig. 6): columns t and y."""
    with theme():
        figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
        ax = figure.subplots()
        ax.plot(table["t"], table["y"], color=INK, linewidth=0.6)
        ax.set(xlabel="observation $t$", ylabel="$y_t$", xlim=(table["t"].min(), table["t"].max()))
        figure.suptitle(plain(title))
        return figure


FIGURE = Drawing(
    name="nng_fig6",
    title="The series of the GARCH model (paper B, Fig. 6)",
    draw=series,
    reads=("nng_fig6",),
    page="gradient_models",
    problem="garch",
    caption="The simulated series whose GARCH(2, 1) model is sampled.",
)
