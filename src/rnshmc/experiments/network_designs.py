"""Training losses of several gradient network designs on the same gradients, by epoch (paper B, Fig. 5)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.random import stream
from rnshmc.surrogates.gradient_network import GradientNetwork
from rnshmc.types import Array


def training_losses(
    q: Array, gradients: Array, *, designs: Mapping[str, Mapping[str, int]], epochs: int, seed: int, chain: int
) -> pd.DataFrame:
    """Train a network of each design, with its ``hidden_units`` of each layer and ``blocks``, on the same pairs.

    Columns network, chain, epoch (counted from 1), loss (half the mean squared error of the gradient's components),
    weights (of the network, biases left out, as the paper counts its units). Pairs have shape (n, dim); the number of
    the chain that they are from names the streams. Raises `FitError` if the training set has the wrong shape or is not
    finite; `ParameterError` if a design or epochs is out of range.
    """
    parts = []
    for name, design in designs.items():
        rng = stream(seed, "nng_fig5", name, f"chain{chain}")
        units, blocks = design["hidden_units"], design["blocks"]
        network = GradientNetwork.fit(q, gradients, rng=rng, hidden_units=units, epochs=epochs, blocks=blocks)
        columns: dict[str, Any] = {"network": name, "chain": chain, "epoch": np.arange(1, epochs + 1)}
        weights = network.weights.size + network.output_weights.size
        parts.append(pd.DataFrame({**columns, "loss": network.losses, "weights": weights}))
    return pd.concat(parts, ignore_index=True)
