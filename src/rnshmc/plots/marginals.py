"""One- and two-dimensional posterior marginals, from their table."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.diagnostics.density import JOINT_BINS, Interval, content_levels, interval_of, joint_cells, joint_places
from rnshmc.plots.coordinates import coordinate_name
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, sampler_legend, sampler_style, with_title
from rnshmc.results.marginals import marginal_table, selected_coordinates
from rnshmc.results.names import in_order, sampler_label
from rnshmc.results.posterior import ProblemChains
from rnshmc.types import Array


def marginals(table: pd.DataFrame, target: Mapping[str, Any], title: str) -> Figure:
    """Draw marginals, of Fig. 6 or of a problem, from a table of `rnshmc.results.marginals.marginal_table`.

    `target`, the config's entry, names the coordinates.
    """
    single = table[table["y_coordinate"].isna()]
    pairs = table[table["y_coordinate"].notna()]
    coordinates = [int(number) for number in single["x_coordinate"].unique()]
    grids = {number: np.unique(single.loc[single["x_coordinate"] == number, "x"]) for number in coordinates}
    intervals = {number: interval_of(grid) for number, grid in grids.items()}
    figure = Figure(figsize=(WIDTH, WIDTH + 0.6), layout="constrained")
    size, heights = len(coordinates), [*[1.0] * len(coordinates), 0.6]
    axes = figure.subplots(size + 1, size, squeeze=False, sharex="col", height_ratios=heights)
    for i, row in enumerate(coordinates):
        _marginal_panel(axes[i, i], single[single["x_coordinate"] == row], intervals[row])
        for j, column in enumerate(coordinates[:i]):
            cells = pairs[(pairs["x_coordinate"] == column) & (pairs["y_coordinate"] == row)]
            _joint_panel(axes[i, j], cells, intervals[column], intervals[row], labelled=j == 0)
        for ax in axes[i, i + 1 :]:
            ax.set_axis_off()
        axes[i, 0].set_ylabel(coordinate_name(target, row) if i else "density")
        axes[-1, i].set_xlabel(coordinate_name(target, row))
    _difference_panels(axes[-1], single)
    figure.align_ylabels(axes[:, 0])
    sampler_legend(figure, table["sampler"])
    return with_title(figure, title, str(table["data"].iloc[0]))


def marginals_of_chains(chains: ProblemChains, target: Mapping[str, Any], title: str) -> Figure:
    """`marginals` of evenly spaced coordinates, from the chains of a problem."""
    return marginals(marginal_table(chains, selected_coordinates(chains.dim)), target, title)


def _marginal_panel(ax: Axes, single: pd.DataFrame, interval: Interval) -> None:
    for sampler in in_order(single["sampler"]):
        part = single[single["sampler"] == sampler]
        ax.plot(part["x"], part["density"], **sampler_style(sampler).drawing, linewidth=1.3)
    ax.set(xlim=interval, yticks=[])
    _plain(ax, axis="x")


def _difference_panels(axes: Array, single: pd.DataFrame) -> None:
    """Densities minus that of the first sampler, on one scale of at most the height of its peak."""
    first, *others = in_order(single["sampler"])
    largest = 0.0
    for ax, (_, part) in zip(axes, single.groupby("x_coordinate"), strict=True):
        densities = part.pivot_table(index="x", columns="sampler", values="density")
        differences = 100 * densities.sub(densities[first], axis=0) / densities[first].max()
        ax.axhline(0, **sampler_style(first).drawing, linewidth=0.8)
        for sampler in others:
            ax.plot(differences.index, differences[sampler], **sampler_style(sampler).drawing, linewidth=1.3)
        largest = max(largest, float(differences.abs().to_numpy().max()))
        _plain(ax, axis="both")
        ax.tick_params(labelleft=ax is axes[0])
    limit = 1.1 * min(max(largest, 5.0), 100.0)
    for ax in axes:
        ax.set_ylim(-limit, limit)
    axes[0].set_ylabel(f"minus {sampler_label(first)}\n(%)", fontsize=8)


def _joint_panel(ax: Axes, cells: pd.DataFrame, x: Interval, y: Interval, *, labelled: bool) -> None:
    for sampler in in_order(cells["sampler"]):
        style = sampler_style(sampler)
        part = cells[cells["sampler"] == sampler]
        heights = np.zeros((JOINT_BINS, JOINT_BINS))
        heights[joint_cells(part["y"].to_numpy(), y), joint_cells(part["x"].to_numpy(), x)] = part["density"]
        places, levels = (joint_places(x), joint_places(y)), np.unique(content_levels(heights))
        ax.contour(*places, heights, levels=levels, colors=style.colour, linestyles=[style.line], linewidths=1.1)
    ax.set(xlim=x, ylim=y)
    _plain(ax, axis="both")
    ax.tick_params(labelleft=labelled)


def _plain(ax: Axes, axis: Literal["x", "both"]) -> None:
    """A small panel: few ticks, small labels, no grid."""
    ax.grid(visible=False)
    ax.locator_params(axis=axis, nbins=3)
    ax.tick_params(labelsize=7)


FIG6 = Drawing(
    name="fig6",
    title="Posterior marginals by HMC and RNS-HMC (paper A, Fig. 6)",
    draw=marginals,
    reads=("fig6",),
    page="marginals",
    problem="lr_simulated",
    caption="One- and two-dimensional marginals of five coefficients of {{ problem }}, overlaid. Contours contain 50% "
    "and 90% of the posterior. Last row: density of RNS-HMC minus that of HMC, in percent of its peak.",
)

OF_PROBLEM = Drawing(
    name="marginals",
    title="Posterior marginals",
    draw=marginals_of_chains,
    reads=("chains",),
    page="problem",
    caption="One- and two-dimensional marginals of five coordinates of {{ problem }}, all samplers overlaid. Contours "
    "contain 50% and 90% of the posterior. Last row: density minus that of the first sampler, in percent of its peak.",
)
