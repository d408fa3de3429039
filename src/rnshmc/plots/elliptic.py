"""The elliptic inverse problem: its diffusion field by each sampler, and the pressure at its sensors."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from scipy.spatial import KDTree

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, PAPER, WIDTH, sampler_style, with_title
from rnshmc.results.names import in_order
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.registry import target_settings
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.forward_data import ForwardData, Predictions
from rnshmc.types import Array

Cells = npt.NDArray[np.intp]
"""Number of a cell for each pixel."""
Fields = dict[str, Array]
"""Values in the cells, by the titles of their panels."""

COLOURS = "cividis"
PIXELS = 120
"""Pixels along a side, each with the value of the cell that it is in."""
QUANTILES = (0.05, 0.5, 0.95)
"""Lower end of a bar, dot, upper end."""


def diffusion_fields(chains: ProblemChains, forward: ForwardData, target: Mapping[str, Any], title: str) -> Figure:
    """Draw the logarithm of the diffusion field; a user's observations have no truth.

    `target` is the config's entry of the target, with its random field.
    """
    field = from_mapping(EllipticSettings, target_settings(target)).random_field()
    means, sds = {}, {}
    for sampler in in_order(chains.chains):
        draws = chains.draws(sampler)
        label = sampler_style(sampler).lines
        means[label] = field.modes @ draws.mean(axis=0)
        covariance = np.cov(draws, rowvar=False)
        sds[label] = np.sqrt(np.einsum("ni,ij,nj->n", field.modes, covariance, field.modes))
    truth = {"truth": field.modes @ forward.theta_true} if np.isfinite(forward.theta_true).all() else {}
    columns = len(truth) + len(means)
    figure = Figure(figsize=(max(WIDTH, 2.0 * columns), 5.2), layout="constrained")
    axes = figure.subplots(2, columns, squeeze=False)
    for ax in axes[1, : len(truth)]:
        ax.set_axis_off()
    cells = _nearest_cells(field.points)
    _row(figure, list(axes[0]), cells, truth, means, "mean", "log c")
    _row(figure, list(axes[1, len(truth) :]), cells, {}, sds, "sd", "sd of log c")
    for ax in (*axes[0], *axes[1, len(truth) :]):
        ax.plot(*forward.points.T, ".", color="white", markersize=1.2, alpha=0.7)
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1])
        ax.set_xlabel("$x_1$", labelpad=-6)
        ax.set_ylabel("$x_2$", labelpad=-4)
        ax.grid(visible=False)
    return with_title(figure, title, chains.origin)


def _row(
    figure: Figure, axes: list[Axes], cells: Cells, truth: Fields, estimates: Fields, name: str, label: str
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


def _images(
    figure: Figure, axes: list[Axes], cells: Cells, fields: Fields, limits: tuple[float, float], label: str
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


FIELD = Drawing(
    name="field",
    title="The diffusion field",
    draw=diffusion_fields,
    reads=("chains", "forward"),
    page="problem",
    caption="Logarithm of the field of {{ problem }}: the truth, where the observations were simulated, mean and "
    "standard deviation by the first sampler, and the differences of the other samplers from it. Dots are the points "
    "where the pressure was observed.",
)


def predictive_pressures(forward: ForwardData, predictions: Predictions, title: str) -> Figure:
    """Predicted over observed pressure at each sensor: draws from the prior (left) and from the posterior (right)."""
    style = sampler_style(predictions.sampler)
    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    prior, posterior = figure.subplots(1, 2, sharex=True, sharey=True)
    _sensors(prior, forward, forward.prior_predictive, "Prior", PAPER)
    _sensors(posterior, forward, predictions.pressures, f"Posterior, {style.label}", style.colour)
    prior.set_ylabel("predicted pressure (dimensionless)")
    return with_title(figure, title)


def _sensors(ax: Axes, forward: ForwardData, pressures: Array, title: str, colour: str) -> None:
    """Dots and bars of the sensors, and lines at the observation plus or minus two standard deviations of the noise."""
    low, middle, high = np.quantile(pressures, QUANTILES, axis=0)
    ax.vlines(forward.observations, low, high, color=colour, linewidth=0.7, alpha=0.6)
    ax.plot(forward.observations, middle, ".", color=colour, markersize=3.5)
    for shift, line in ((0.0, "-"), (-2 * forward.noise_sd, ":"), (2 * forward.noise_sd, ":")):
        ax.axline((0.0, shift), slope=1.0, color=INK, linestyle=line, linewidth=0.8)
    ax.set(title=title, xlabel="observed pressure (dimensionless)")


PRESSURE = Drawing(
    name="pressure",
    title="Prior and posterior predictive",
    draw=predictive_pressures,
    reads=("forward", "predictions"),
    page="problem",
    caption="Pressure at each sensor of {{ problem }}, predicted over observed: {{ config.forward.members }} draws "
    "from the prior (left), and draws from the posterior by the first sampler (right). Dots are medians of the "
    "prediction without noise, bars extend from its 5% to its 95% quantile. On the solid line both are equal; dotted "
    "lines are two standard deviations of the noise away. The pressure is prescribed between 0 and 1 on two sides of "
    "the square.",
)
