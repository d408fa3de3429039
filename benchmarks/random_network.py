"""The random network against its two bare matrix-vector products, s = 2000, d = 50, and the time of its fit."""

import sys
from time import perf_counter

import numpy as np
from harness import compare, report
from threadpoolctl import threadpool_limits

from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork

STATES, UNITS, DIM = 4000, 2000, 50


def main() -> int:
    rng = stream(1, "benchmark", "random network")
    states = 0.1 * rng.standard_normal((STATES, DIM))
    with threadpool_limits(limits=1, user_api="blas"):
        start = perf_counter()
        network = RandomNetwork.fit(states, 50.0 * (states**2).sum(axis=1), rng=rng, hidden_units=UNITS, ridge=1e-6)
        print(f"fit of {UNITS} units to {STATES} states by {network.solver}: {perf_counter() - start:.2f} s")
    W, v, q = np.ascontiguousarray(network.weights.T), network.output_weights, states[0]

    def products() -> object:
        return W @ q, v @ W

    return report(
        [
            compare("gradient / (W q and W'a)", lambda: network.gradient(q), products, bound=3.0, calls=50),
            compare("value_and_grad / (W q and W'a)", lambda: network.value_and_grad(q), products, bound=3.0, calls=50),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
