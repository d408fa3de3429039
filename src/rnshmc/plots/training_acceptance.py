"""Acceptance of adaptive chains by the number of their training points."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.panels import Titles, origins_of, problem_panels, rows_of
from rnshmc.plots.style import ALARM, WIDTH, sampler_style, theme

ADAPTIVE = "arns_hmc"
BAND = (0.05, 0.95)
_BASELINE_LINE = (0, (5, 2))


def acceptance_by_training(table: pd.DataFrame, titles: Titles) -> Figure:
    """Acceptance of adaptive chains against the number of training points (paper A, Fig. 7), one panel per problem.

    The line is the median over chains, the band contains 90% of them; the dashed red line is the mean acceptance of
    HMC.

    Parameters
    ----------
    table
        From `rnshmc.results.adaptation.acceptance_by_training`.
    titles
        Title of each problem.
    """
    table = table[table["sampler"] == ADAPTIVE]
    origins, style = origins_of(table), sampler_style(ADAPTIVE)
    with theme():
        figure = Figure(figsize=(WIDTH, 0.9 + 2.2 * max(rows_of(origins), 1)), layout="constrained")
        for ax, problem in problem_panels(figure, origins, titles, "training points"):
            part = table[table["problem"] == problem]
            by_size = part.groupby("training_points")["ap"]
            low, middle, high = (by_size.quantile(share) for share in (BAND[0], 0.5, BAND[1]))
            ax.fill_between(low.index, low, high, color=style.colour, alpha=0.25, linewidth=0)
            ax.plot(middle.index, middle, color=style.colour, linewidth=1.5)
            ax.axhline(part["hmc_ap"].iloc[0], color=ALARM, linestyle=_BASELINE_LINE, linewidth=1.5)
            ax.set_ylim(0, 1)
        figure.supylabel("acceptance probability", size="medium")
        handles = [
            Line2D([], [], color=style.colour, label=f"{style.label}, median over chains"),
            Patch(color=style.colour, alpha=0.25, linewidth=0, label="90% of the chains"),
            Line2D([], [], color=ALARM, linestyle=_BASELINE_LINE, label="HMC, mean"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure


FIGURE = Drawing(
    name="fig7",
    title="Acceptance of ARNS-HMC as the training set grows (paper A, Fig. 7)",
    draw=acceptance_by_training,
    reads=("fig7",),
    page="adaptive",
    caption="Acceptance against the number of training points: median over chains, and a band that contains 90% of "
    "them. The dashed red line is the mean acceptance of HMC. Each point averages the acceptance "
    "probabilities of a window of iterations, whose length is the column ``window`` of ``fig7.csv``.",
)
