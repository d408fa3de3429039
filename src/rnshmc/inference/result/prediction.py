"""Posterior predictive of a forward model's outputs."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnshmc.errors import FitError, ParameterError
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.outputs import draw_outputs
from rnshmc.random import stream
from rnshmc.types import Array

Structured = Array | dict[str, Array]
"""One array, or one for each name, as the data are."""
SEED = 1
"""Seed of the prediction in a file."""
STORED = 2_000_000
"""Maximum number of outputs at all draws in a file: 16 MB, and as much for observations."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Outputs at draws of the posterior, from the emulator and with its error.

    Attributes
    ----------
    outputs
        Draws of the outputs without noise, shape (draws, ...).
    observations
        Draws of new observations, with noise, of the same shape; NaN where there are no data.
    data
        The observations.
    """

    outputs: Structured
    observations: Structured
    data: Structured

    def plot(self, ax: Any = None) -> Any:
        """Draw data over medians and central 90% intervals of outputs and of new observations, by index.

        Parameters
        ----------
        ax
            Axes of matplotlib, as many as arrays in the data; None: new ones.

        Returns
        -------
        The axes.
        """
        import matplotlib.pyplot as plt

        panels = _named(self.data)
        axes = plt.subplots(len(panels), 1, squeeze=False, layout="constrained")[1][:, 0] if ax is None else ax
        axes = np.atleast_1d(axes)
        for panel, (name, data) in zip(axes, panels.items(), strict=True):
            outputs, observations = _named(self.outputs)[name], _named(self.observations)[name]
            index = np.arange(data.size)
            for drawn, shade, label in (
                (observations, "0.85", "new observations, 90%"),
                (outputs, "0.6", "outputs, 90%"),
            ):
                low, high = np.nanquantile(drawn.reshape(len(drawn), -1), [0.05, 0.95], axis=0)
                panel.fill_between(index, low, high, color=shade, step="mid", label=label)
            middle = np.nanmedian(outputs.reshape(len(outputs), -1), axis=0)
            panel.plot(index, middle, color="black", drawstyle="steps-mid", label="outputs, median")
            panel.plot(index, data.ravel(), "o", color="tab:blue", markersize=3, label="data")
            panel.set(xlabel="index of the output", ylabel=as_label(name or "output"))
        axes[0].legend(fontsize="small")
        return axes


def predicted(emulated: EmulatedPotential, rows: Array, seed: int) -> Prediction:
    """The prediction at unconstrained draws, (k, d), or some of them if there are very many outputs."""
    outputs, observations = draw_outputs(emulated, rows, stream(seed, "predictions"))
    forward_posterior = emulated.runs.forward_posterior
    data = dict(forward_posterior.data)
    return Prediction(
        forward_posterior.structured(outputs),
        forward_posterior.structured(observations),
        data[""] if list(data) == [""] else data,
    )


def for_file(emulated: EmulatedPotential, rows: Array) -> Prediction | None:
    """The prediction to store, at evenly spaced draws with at most `STORED` outputs; None if none is possible."""
    size = len(rows) * sum(emulated.runs.forward_posterior.sizes.values())
    try:
        return predicted(emulated, rows[:: max(1, math.ceil(size / STORED))], SEED)
    except FitError:
        return None


def stored(prediction: Prediction | None, seed: int) -> Prediction:
    """The prediction of a file; raises a `ParameterError` if there is none, or it is of another seed."""
    if prediction is None:
        raise ParameterError(
            "predict: no outputs were emulated; this needs a rnshmc.Model whose surrogate is good enough"
        )
    if seed != SEED:
        raise ParameterError(f"seed: a result from a file only has the prediction of seed {SEED}, got {seed}")
    return prediction


def as_label(name: str) -> str:
    """Text for a figure: a formula if matplotlib can draw it; otherwise the name as written, with its dollar signs."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(name)
    except ValueError:
        return name.replace("$", r"\$")
    return name


def _named(arrays: Structured) -> dict[str, Array]:
    return arrays if isinstance(arrays, dict) else {"": arrays}
