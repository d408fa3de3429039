"""The diffusion field of the elliptic inverse problem: the truth behind the observations, and posterior estimates."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.tri import Triangulation

from rnshmc.fem.random_field import karhunen_loeve
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import WIDTH, mark_origin, plain, sampler_style, theme
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.registry import target_settings
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array

COLOURS = "cividis"


def diffusion_fields(chains: ProblemChains, forward: ForwardData, target: Mapping[str, Any], title: str) -> Figure:
    """Logarithm of the diffusion field: the truth, then posterior mean (above) and standard deviation of each sampler.

    The dots are the points where the pressure was observed. The truth is omitted for a user's observations.

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
    means, spreads = {}, {}
    if np.isfinite(forward.theta_true).all():
        means["truth"] = field.modes @ forward.theta_true
    for sampler in chains.chains:
        draws = chains.draws(sampler)
        label = sampler_style(sampler).label
        means[f"mean, {label}"] = field.modes @ draws.mean(axis=0)
        covariance = np.cov(draws, rowvar=False)
        spreads[f"sd, {label}"] = np.sqrt(np.einsum("ni,ij,nj->n", field.modes, covariance, field.modes))
    with theme():
        width = WIDTH / 3 * max(len(means), 2)
        figure = Figure(figsize=(width, 5.2), layout="constrained")
        axes = figure.subplots(2, len(means), squeeze=False)
        _field_row(figure, list(axes[0]), field.points, means, forward.points, "log c")
        offset = len(means) - len(spreads)
        for ax in axes[1, :offset]:
            ax.set_axis_off()
        _field_row(figure, list(axes[1, offset:]), field.points, spreads, forward.points, "sd of log c")
        figure.suptitle(plain(title))
        mark_origin(figure, chains.origin)
        return figure


def _field_row(
    figure: Figure, axes: list[Axes], points: Array, fields: dict[str, Array], observed: Array, label: str
) -> None:
    """Fields side by side on one colour scale."""
    everything = np.concatenate(list(fields.values()))
    scale = Normalize(float(everything.min()), float(everything.max()))
    cells = Triangulation(points[:, 0], points[:, 1])
    for ax, (name, values) in zip(axes, fields.items(), strict=True):
        ax.tripcolor(cells, values, norm=scale, cmap=COLOURS, shading="gouraud", rasterized=True)
        ax.plot(*observed.T, ".", color="white", markersize=1.2, alpha=0.7)
        ax.set(title=name, xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[0, 1], yticks=[0, 1])
        ax.set_xlabel("$x_1$", labelpad=-6)
        ax.set_ylabel("$x_2$", labelpad=-4)
        ax.grid(visible=False)
    figure.colorbar(ScalarMappable(scale, COLOURS), ax=axes, label=label, shrink=0.85)


FIGURE = Drawing(
    name="field",
    title="The diffusion field",
    draw=diffusion_fields,
    reads=("chains", "forward"),
    page="problem",
    caption="Logarithm of the field of {{ problem }}: the truth, where the observations were simulated, and posterior "
    "mean and standard deviation by each sampler. Dots are the points where the pressure was observed.",
)
