"""The diffusion field of the elliptic inverse problem: posterior estimates of one sampler, and where others differ."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from scipy.spatial import KDTree

from rnshmc.fem.random_field import karhunen_loeve
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, mark_origin, plain, sampler_style, theme
from rnshmc.results.names import in_order
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.registry import target_settings
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array

Cells = npt.NDArray[np.intp]
"""Number of a cell for each pixel."""

COLOURS = "cividis"
PIXELS = 120
"""Pixels along a side, each with the value of the cell that it is in."""


def diffusion_fields(chains: ProblemChains, forward: ForwardData, target: Mapping[str, Any], title: str) -> Figure:
    """Logarithm of the diffusion field: posterior mean (above) and standard deviation by one sampler.

    Of the other samplers, the differences from it are shown, on one scale in each row. The dots are the points where
    the pressure was observed. The truth is omitted for a user's observations.

    Parameters
    ----------
    chains
        Chains of the elliptic problem.
    forward
        Result of the forward-model stage.
    target
        The config's entry of the target, with its random field.
    title
        Title of the problem.
    """
    settings = from_mapping(EllipticSettings, target_settings(target))
    field = karhunen_loeve(
        settings.cell_type,
        settings.cells,
        settings.modes,
        length_scale=settings.length_scale,
        variance=settings.variance,
    )
    means, sds = {}, {}
    for sampler in in_order(chains.chains):
        draws = chains.draws(sampler)
        label = sampler_style(sampler).label
        means[label] = field.modes @ draws.mean(axis=0)
        covariance = np.cov(draws, rowvar=False)
        sds[label] = np.sqrt(np.einsum("ni,ij,nj->n", field.modes, covariance, field.modes))
    truth = {"truth": field.modes @ forward.theta_true} if np.isfinite(forward.theta_true).all() else {}
    columns = len(truth) + len(means)
    with theme():
        figure = Figure(figsize=(max(WIDTH, 2.0 * columns), 5.2), layout="constrained")
        axes = figure.subplots(2, columns, squeeze=False)
        for ax in axes[1, : len(truth)]:
            ax.set_axis_off()
        cells = _nearest_cells(field.points)
        _row(figure, list(axes[0]), cells, truth, means, "mean", "log c", forward.points)
        _row(figure, list(axes[1, len(truth) :]), cells, {}, sds, "sd", "sd of log c", forward.points)
        figure.suptitle(plain(title))
        mark_origin(figure, chains.origin)
        return figure


def _row(
    figure: Figure,
    axes: list[Axes],
    cells: Cells,
    truth: dict[str, Array],
    estimates: dict[str, Array],
    name: str,
    label: str,
    observed: Array,
) -> None:
    """The truth, the first estimate, and the differences of the others from it."""
    (baseline, first), *others = estimates.items()
    fields = {**truth, f"{name}, {baseline}": first}
    differences = {f"{other} - {baseline}": values - first for other, values in others}
    everything = np.concatenate(list(fields.values()))
    _images(figure, axes[: len(fields)], cells, fields, (float(everything.min()), float(everything.max())), label)
    if differences:
        largest = float(np.abs(list(differences.values())).max()) or 1.0
        _images(figure, axes[len(fields) :], cells, differences, (-largest, largest), f"difference of {label}")
    for ax in axes:
        ax.plot(*observed.T, ".", color="white", markersize=1.2, alpha=0.7)
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1])
        ax.set_xlabel("$x_1$", labelpad=-6)
        ax.set_ylabel("$x_2$", labelpad=-4)
        ax.grid(visible=False)


def _images(
    figure: Figure,
    axes: list[Axes],
    cells: Cells,
    fields: dict[str, Array],
    limits: tuple[float, float],
    label: str,
) -> None:
    """Fields side by side on one colour scale."""
    scale = Normalize(*limits)
    for ax, (title, values) in zip(axes, fields.items(), strict=True):
        # Up to the frame: triangles between the cells' midpoints would leave a rim.
        ax.imshow(
            values[cells], norm=scale, cmap=COLOURS, origin="lower", extent=(0, 1, 0, 1), interpolation="bilinear"
        )
        ax.set_title(title, size=8.8)
    figure.colorbar(ScalarMappable(scale, COLOURS), ax=axes, label=label, shrink=0.8)


def _nearest_cells(points: Array) -> Cells:
    """Number of the cell of each pixel, (PIXELS, PIXELS), rows along x_2."""
    middles = (np.arange(PIXELS) + 0.5) / PIXELS
    pixels = np.stack(np.meshgrid(middles, middles), axis=-1)
    return np.asarray(KDTree(points).query(pixels)[1])


FIGURE = Drawing(
    name="field",
    title="The diffusion field",
    draw=diffusion_fields,
    reads=("chains", "forward"),
    page="problem",
    caption="Logarithm of the field of {{ problem }}: the truth, where the observations were simulated, mean and "
    "standard deviation by the first sampler, and the differences of the other samplers from it. Dots are the points "
    "where the pressure was observed.",
)
