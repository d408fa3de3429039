"""Acceptance on standard Gaussians under several readings of paper B, section 4.5, to find the one of its Table 4.

The paper prints the network's units and epochs. Steps and batches are those of the published notebook, whose example is
the cell of 20 dimensions and 1000 points, with 50 units. The Gaussian process has no amplitude, and the published
implementation centres the energies without scaling them. Acceptance includes trajectories of zero steps, as printed.
Each number has one training set and one chain, so its error from the chain alone is 0.01 to 0.02. Gaussian processes
are not fitted to the largest training set. Takes two minutes; no bound.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.experiments.network_gp import NetworkComparison, chain_acceptance, training_states
from rnshmc.random import stream
from rnshmc.surrogates.gaussian_process import GaussianProcess, Scale
from rnshmc.surrogates.gradient_network import GradientNetwork
from rnshmc.types import Array, Driver

PAPER = {
    "gp_hmc": {10: (0.65, 0.61, 0.57), 20: (0.64, 0.65, 0.62), 40: (0.31, 0.32, 0.32)},
    "nng_hmc": {10: (0.95, 0.96, 0.97), 20: (0.82, 0.87, 0.91), 40: (0.61, 0.75, 0.87)},
}
SIZES = (500, 1000, 2000)
MAX_EVALUATIONS = 40
PLAIN = NetworkComparison(seed=1, step_size=0.1, n_steps=(1, 9), iterations=1000, repeats=1)

Fit = Callable[[Array], Driver]


class Reading(NamedTuple):
    """What drives, how it is fitted, and the leapfrog settings."""

    method: str
    change: str
    fit: Fit
    dynamics: NetworkComparison = PLAIN


def network(*, hidden_units: int = 100, epochs: int = 10, batch_size: int = 20) -> Fit:
    """A gradient network on exact gradients, which on N(0, I) are the states themselves."""

    def fit(q: Array) -> Driver:
        rng = stream(1, "network_gp", "network")
        return GradientNetwork.fit(q, q, rng=rng, hidden_units=hidden_units, epochs=epochs, batch_size=batch_size)

    return fit


class Free:
    """Drives nothing: what a process comes to that has learnt nothing."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def gradient(self, q: Array) -> Array:
        return np.zeros_like(q)


def process(scale: Scale = "amplitude") -> Fit:
    """A Gaussian process with an amplitude, or with targets standardised or centred, and scaled back."""

    def fit(q: Array) -> Driver:
        rng = stream(1, "network_gp", "process")
        return GaussianProcess.fit(q, potentials(q), rng=rng, max_evaluations=MAX_EVALUATIONS, scale=scale)

    return fit


def potentials(q: Array) -> Array:
    """|q|^2 / 2."""
    return np.asarray(0.5 * (q**2).sum(axis=1))


READINGS = (
    Reading("nng_hmc", "as configured", network()),
    Reading("nng_hmc", "50 units", network(hidden_units=50)),
    Reading("nng_hmc", "batches of 10", network(batch_size=10)),
    Reading("nng_hmc", "batches of 32", network(batch_size=32)),
    Reading("nng_hmc", "20 epochs", network(epochs=20)),
    Reading("nng_hmc", "1 to 4 steps of 0.15", network(), replace(PLAIN, step_size=0.15, n_steps=(1, 4))),
    Reading("gp_hmc", "amplitude estimated", process()),
    Reading("gp_hmc", "amplitude 1, standardised", process("sd")),
    Reading("gp_hmc", "amplitude 1, centred, as configured", process("centred")),
    Reading("gp_hmc", "no force at all", lambda q: Free(q.shape[1])),
)


def acceptance(reading: Reading, d: int, size: int) -> float:
    driver = reading.fit(training_states(reading.dynamics, d, size, 1))
    names = (reading.method, f"d{d}", f"n{size}")
    accepted = chain_acceptance(reading.dynamics, method=reading.method, driver=driver, d=d, names=names)
    return with_empty(accepted, reading.dynamics.n_steps)


def line(name: str, values: list[float]) -> str:
    return f"{name:38}" + "".join(f"{value:7.2f}" for value in values)


def main() -> None:
    for method, columns in PAPER.items():
        sizes = SIZES if method == "nng_hmc" else SIZES[:-1]
        cells = [(d, size) for d in columns for size in sizes]
        print(f"{'dimension':38}" + "".join(f"{d:7d}" for d, _ in cells))
        print(f"{'training points':38}" + "".join(f"{size:7d}" for _, size in cells))
        print(line(f"{method}: paper", [columns[d][SIZES.index(size)] for d, size in cells]))
        for reading in READINGS:
            if reading.method == method:
                found = [acceptance(reading, d, size) for d, size in cells]
                print(line(f"{method}: {reading.change}", found), flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
