"""The random network and its metric against their bare matrix products, s = 2000, d = 50, and the time of a fit."""

import sys
from time import perf_counter

import numpy as np
from harness import Comparison, compare, report
from threadpoolctl import threadpool_limits

from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.surrogates.softabs import SoftAbsMetric
from rnshmc.types import Array

STATES, UNITS, DIM = 4000, 2000, 50


def main() -> int:
    rng = stream(1, "benchmark", "random network")
    states = 0.1 * rng.standard_normal((STATES, DIM))
    with threadpool_limits(limits=1, user_api="blas"):
        start = perf_counter()
        network = RandomNetwork.fit(states, 50.0 * (states**2).sum(axis=1), rng=rng, hidden_units=UNITS, ridge=1e-6)
        print(f"fit of {UNITS} units to {STATES} states by {network.solver}: {perf_counter() - start:.2f} s")
    return report(gradients(network, states[0]) + metrics(network, states[:2]))


def gradients(network: RandomNetwork, q: Array) -> list[Comparison]:
    W, v = np.ascontiguousarray(network.weights.T), network.output_weights

    def products() -> object:
        return W @ q, v @ W

    return [
        compare("gradient / (W q and W'a)", lambda: network.gradient(q), products, bound=3.0, calls=50),
        compare("value_and_grad / (W q and W'a)", lambda: network.value_and_grad(q), products, bound=3.0, calls=50),
    ]


def metrics(network: RandomNetwork, pair: Array) -> list[Comparison]:
    """One metric and its derivative contracted with G^-1, as a trajectory asks for them: each at a new position."""
    W, V = np.array(network.weights), np.ascontiguousarray(network.weights.T)
    plain, softened = SoftAbsMetric(network, "full", 0.1), SoftAbsMetric(network, "full", 1e3)
    if plain.softened(pair[0]) or not softened.softened(pair[0]):
        raise RuntimeError("the benchmark times the wrong case")
    factor = np.linalg.inv(np.linalg.cholesky(plain.metric(pair[0]))).T

    def both(metric: SoftAbsMetric) -> object:
        return [(metric.metric(q), metric.metric_vjp(q, factor)) for q in pair]

    def bare() -> object:
        return [(W @ V, factor.T @ W) for _ in pair]

    return [
        compare("hessian / W W'", lambda: network.hessian(pair[0]), lambda: W @ V, bound=2.0, calls=5),
        compare("plain metric and vjp with G^-1 / (W W' and F'W)", lambda: both(plain), bare, bound=2.0),
        compare("softened metric and vjp with G^-1 / the same", lambda: both(softened), bare, bound=4.0),
    ]


if __name__ == "__main__":
    sys.exit(main())
