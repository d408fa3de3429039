"""One gradient of the gradient network against its two bare matrix products, at two sizes of paper B."""

import sys

import numpy as np
from harness import Comparison, compare, report

from rnshmc.random import stream
from rnshmc.surrogates.gradient_network import GradientNetwork

SIZES = [(200, 8, 50), (44, 1, 100)]
"""Dimension, blocks and units of a block: logistic regression (section 4.2) and Online News Popularity."""
PAIRS = 400


def main() -> int:
    return report([gradient(*size) for size in SIZES])


def gradient(dim: int, blocks: int, units: int) -> Comparison:
    rng = stream(1, "benchmark", "gradient network", str(dim))
    states = rng.standard_normal((PAIRS, dim))
    network = GradientNetwork.fit(states, states, rng=rng, hidden_units=units, epochs=1, blocks=blocks)
    q = states[0]
    W, V = np.array(network.weights), np.array(network.output_weights)
    hidden = np.maximum(q @ W, 0.0)
    layers = hidden.reshape(blocks, 1, units)
    single = V[0]

    def products() -> object:
        # The dot of one layer has less overhead than `@`: the harder of the two to stay close to.
        return q.dot(W), layers @ V if blocks > 1 else hidden.dot(single)

    name = f"gradient / its two products, d = {dim}, {blocks} x {units} units"
    return compare(name, lambda: network.gradient(q), products, bound=3.0, calls=200)


if __name__ == "__main__":
    sys.exit(main())
