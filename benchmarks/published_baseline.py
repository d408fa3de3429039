"""Why speed-ups differ from paper A's: seconds per iteration of HMC over those of RNS-HMC, two ways.

Lean, as here: one gradient per leapfrog step, and the adjoint for the PDE. Published, like the original implementation,
which the run also times (`baseline` in the config): two gradients per leapfrog step, also of surrogates, and for the
PDE the full Jacobian by 20 tangent solves at every evaluation, even of a value. Data are random, since only their size
affects the cost.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from harness import compare

from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.targets.elliptic import EllipticInverseProblem, boundary_pressure
from rnshmc.targets.elliptic_full_jacobian import FullJacobianProblem
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.types import Driver, Potential

P = TypeVar("P", bound=EllipticInverseProblem)
ITERATIONS = 20
"""Timed together, with the same numbers of leapfrog steps for both sides."""


def logistic(n: int, dim: int) -> LogisticRegression:
    rng = stream(1, "published baseline", str(n))
    return LogisticRegression(rng.standard_normal((n, dim)), rng.integers(0, 2, n), prior_sd=10.0)


def elliptic(kind: type[P]) -> P:
    x1, x2 = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, 11), np.linspace(0, 1, 11)))
    return kind(np.column_stack([x1, x2]), boundary_pressure(x1, x2))


def network(dim: int, units: int) -> RandomNetwork:
    rng = stream(1, "published baseline", "network")
    hidden = rng.standard_normal((dim, units)) / np.sqrt(dim)
    return RandomNetwork(hidden, rng.standard_normal(units), 1e-9 * rng.standard_normal(units), 0.0, "none")


def iterations(potential: Potential, driver: Driver, steps: int, gradients: int) -> Callable[[], None]:
    """Twenty iterations that stay where they are, so that each costs what any other does."""
    kernel = HMC(potential, driver, step_size=1e-9, n_steps=(1, steps), gradients_per_step=gradients)
    state = kernel.init(np.zeros(potential.dim))

    def run() -> None:
        rng = stream(1, "published baseline", "iterations")
        for _ in range(ITERATIONS):
            kernel.step(rng, state)

    return run


def rows() -> Iterator[tuple[str, Potential, Potential, RandomNetwork, int, float]]:
    """Problem, its lean and its published potential, its surrogate, L, and the paper's ratio of s/iter (Table 1)."""
    for name, n, dim, units, steps, paper in (
        ("lr_simulated", 100_000, 50, 2000, 6, 0.061 / 0.007),
        ("bank", 40_197, 25, 1000, 45, 0.061 / 0.007),
        ("a9a", 32_561, 61, 2500, 10, 0.033 / 0.005),
    ):
        target = logistic(n, dim)
        yield name, target, target, network(dim, units), steps, paper
    yield "pde", elliptic(EllipticInverseProblem), elliptic(FullJacobianProblem), network(20, 1000), 10, 0.775 / 0.066


def main() -> None:
    print("seconds per iteration of HMC over those of RNS-HMC")
    print(f"{'problem':14}{'lean':>8}{'published':>11}{'paper':>8}")
    for name, lean, published, surrogate, steps, paper in rows():
        ratios = [
            compare(
                name,
                iterations(exact, exact, steps, gradients),
                iterations(exact, surrogate, steps, gradients),
                bound=np.inf,
                repeats=7,
            ).ratio
            for exact, gradients in ((lean, 1), (published, 2))
        ]
        print(f"{name:14}{ratios[0]:8.1f}{ratios[1]:11.1f}{paper:8.1f}")


if __name__ == "__main__":
    main()
