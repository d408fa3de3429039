"""Which reading of paper B, section 4.5, gives its Table 4: acceptance on standard Gaussians under several.

The paper prints neither step size nor number of steps, and its Gaussian process has no amplitude. The first row of each
sampler is the setting of the run "paper". One training set and one chain for each number, so that it has an error of
0.01 to 0.02 from the chain alone. Gaussian processes are not fitted to the largest one. Takes two minutes; no bound.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from rnshmc.experiments.network_gp import NetworkComparison, chain_acceptance, training_states
from rnshmc.random import stream
from rnshmc.surrogates.gaussian_process import GaussianProcess, log_likelihood
from rnshmc.surrogates.gradient_network import GradientNetwork
from rnshmc.surrogates.marginal_likelihood import Hyperparameters, LogLikelihood, data_scales, maximise
from rnshmc.surrogates.squared_exponential import covariance
from rnshmc.types import Array, Driver

PAPER = {
    "gp_hmc": {10: (0.65, 0.61, 0.57), 20: (0.64, 0.65, 0.62), 40: (0.31, 0.32, 0.32)},
    "nng_hmc": {10: (0.95, 0.96, 0.97), 20: (0.82, 0.87, 0.91), 40: (0.61, 0.75, 0.87)},
}
SIZES = (500, 1000, 2000)
MAX_EVALUATIONS = 40
PLAIN = NetworkComparison(seed=1, step_size=0.1, n_steps=(1, 4), iterations=1000, repeats=1)

Fit = Callable[[Array], Driver]


class Reading(NamedTuple):
    """What drives, how it is fitted, and the leapfrog settings."""

    method: str
    change: str
    fit: Fit
    dynamics: NetworkComparison = PLAIN


def network(*, epochs: int = 10, batch_size: int = 32) -> Fit:
    """A gradient network of 100 units on exact gradients, which on N(0, I) are the states themselves."""

    def fit(q: Array) -> Driver:
        rng = stream(1, "network_gp", "network")
        return GradientNetwork.fit(q, q, rng=rng, hidden_units=100, epochs=epochs, batch_size=batch_size)

    return fit


class Free:
    """Drives nothing: what a process comes to that has learnt nothing."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def gradient(self, q: Array) -> Array:
        return np.zeros_like(q)


def process(q: Array) -> Driver:
    """A Gaussian process whose amplitude is estimated with the others."""
    rng = stream(1, "network_gp", "process")
    return GaussianProcess.fit(q, potentials(q), rng=rng, max_evaluations=MAX_EVALUATIONS)


def process_of_unit_amplitude(*, centred: bool = True) -> Fit:
    """A Gaussian process with the covariance that the paper prints, whose l and sigma are found."""

    def fit(q: Array) -> Driver:
        targets = potentials(q)
        targets = targets - targets.mean() if centred else targets
        squared_distances = cdist(q, q, "sqeuclidean")
        likelihood = with_unit_amplitude(squared_distances, targets)
        start = replace(data_scales(q, targets), amplitude=1.0)
        found = maximise(likelihood, start, max_evaluations=MAX_EVALUATIONS)
        parameters = found.hyperparameters
        matrix = covariance(squared_distances, 1.0, parameters.length_scale)
        matrix[np.diag_indices_from(matrix)] += parameters.noise_sd**2
        return GaussianProcess.from_search(found, q, linalg.solve(matrix, targets, assume_a="pos"), q, targets)

    return fit


def with_unit_amplitude(squared_distances: Array, targets: Array) -> LogLikelihood:
    """The marginal likelihood of l and sigma: without a slope in the amplitude, the search leaves it at 1."""

    def likelihood(parameters: Hyperparameters) -> tuple[float, Array]:
        value, gradient = log_likelihood(squared_distances, targets, parameters)
        return value, gradient * [0.0, 1.0, 1.0]

    return likelihood


def potentials(q: Array) -> Array:
    """|q|^2 / 2."""
    return np.asarray(0.5 * (q**2).sum(axis=1))


READINGS = (
    Reading("nng_hmc", "as configured", network()),
    Reading("nng_hmc", "1 to 9 steps", network(), replace(PLAIN, n_steps=(1, 9))),
    Reading("nng_hmc", "1 to 19 steps", network(), replace(PLAIN, n_steps=(1, 19))),
    Reading("nng_hmc", "step 0.05", network(), replace(PLAIN, step_size=0.05)),
    Reading("nng_hmc", "20 epochs", network(epochs=20)),
    Reading("nng_hmc", "50 epochs", network(epochs=50)),
    Reading("nng_hmc", "batches of 8", network(batch_size=8)),
    Reading("gp_hmc", "as configured", process),
    Reading("gp_hmc", "amplitude 1", process_of_unit_amplitude()),
    Reading("gp_hmc", "amplitude 1, 1 to 9 steps", process_of_unit_amplitude(), replace(PLAIN, n_steps=(1, 9))),
    Reading("gp_hmc", "amplitude 1, 1 to 19 steps", process_of_unit_amplitude(), replace(PLAIN, n_steps=(1, 19))),
    Reading("gp_hmc", "amplitude 1, not centred", process_of_unit_amplitude(centred=False)),
    Reading("gp_hmc", "no force at all", lambda q: Free(q.shape[1])),
)


def acceptance(reading: Reading, d: int, size: int) -> float:
    driver = reading.fit(training_states(reading.dynamics, d, size, 1))
    names = (reading.method, f"d{d}", f"n{size}")
    return chain_acceptance(reading.dynamics, method=reading.method, driver=driver, d=d, names=names)


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
