"""Pressure at the sensors of the elliptic inverse problem: prior beside posterior predictive."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnshmc.plots.drawing import Drawing
from rnshmc.plots.style import INK, PAPER, WIDTH, plain, sampler_style, theme
from rnshmc.targets.forward_data import ForwardData
from rnshmc.targets.predictions import Predictions
from rnshmc.types import Array

QUANTILES = (0.05, 0.5, 0.95)
"""Lower end of a bar, dot, upper end."""


def predictive_pressures(forward: ForwardData, predictions: Predictions, title: str) -> Figure:
    """Predicted over observed pressure at each sensor: draws from the prior (left) and from the posterior (right).

    Parameters
    ----------
    forward
        Observations, and the ensemble from the prior.
    predictions
        Pressures at draws from the posterior.
    title
        Title of the problem.
    """
    style = sampler_style(predictions.sampler)
    with theme():
        figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
        prior, posterior = figure.subplots(1, 2, sharex=True, sharey=True)
        _sensors(prior, forward, forward.prior_predictive, "Prior", PAPER)
        _sensors(posterior, forward, predictions.pressures, f"Posterior, {style.label}", style.colour)
        prior.set_ylabel("predicted pressure (dimensionless)")
        figure.suptitle(plain(title))
        return figure


def _sensors(ax: Axes, forward: ForwardData, pressures: Array, title: str, colour: str) -> None:
    """Dots and bars of the sensors, and lines at the observation plus or minus two standard deviations of the noise."""
    low, middle, high = np.quantile(pressures, QUANTILES, axis=0)
    ax.vlines(forward.observations, low, high, color=colour, linewidth=0.7, alpha=0.6)
    ax.plot(forward.observations, middle, ".", color=colour, markersize=3.5)
    for shift, line in ((0.0, "-"), (-2 * forward.noise_sd, ":"), (2 * forward.noise_sd, ":")):
        ax.axline((0.0, shift), slope=1.0, color=INK, linestyle=line, linewidth=0.8)
    ax.set(title=title, xlabel="observed pressure (dimensionless)")


FIGURE = Drawing(
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
