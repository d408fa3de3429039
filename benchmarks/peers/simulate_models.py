"""Simulates the data of forward models into models/*.csv: python -m peers.simulate_models."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from peers.forward_models import CHAIN_PRIOR, CHAIN_SD, DATA
from peers.models import chain, decay, epidemic

from rnshmc.random import stream
from rnshmc.types import Array

SEED = 20170913
"""Of config/config.yaml."""


def sir() -> Array:
    """Weeks and negative binomial counts, shape (20, 2)."""
    mean, phi = epidemic.Epidemic().forward(np.array([2.0, 1.0, 25.0, 0.3])), 15.0
    return np.column_stack((epidemic.TIMES[1:], _rng("sir").negative_binomial(phi, phi / (phi + mean))))


def decay_sum() -> Array:
    """Times and sums of two decays with normal errors of 0.1, shape (40, 2)."""
    mean = decay.Decay().forward(np.array([4.0, 1.1, 2.0, 0.12]))
    return np.column_stack((decay.TIMES, mean + 0.1 * _rng("decay").standard_normal(len(mean))))


def reactions() -> Array:
    """Times and concentrations with normal errors, the rates drawn from their prior, shape (10, 32)."""
    rng = _rng("chain")
    rates = CHAIN_PRIOR.mean + CHAIN_PRIOR.sd * rng.standard_normal(chain.REACTIONS)
    mean = chain.Chain().forward(rates).reshape(chain.STEPS, -1)
    times = chain.STEP * np.arange(1.0, chain.STEPS + 1.0)
    return np.column_stack((times, mean + CHAIN_SD * rng.standard_normal(mean.shape)))


SIMULATED: dict[str, tuple[Callable[[], Array], tuple[str, ...]]] = {
    "sir": (sir, ("week", "cases")),
    "decay": (decay_sum, ("time", "sum")),
    "chain": (reactions, ("time", *(f"A_{k}" for k in range(chain.REACTIONS + 1)))),
}
"""What simulates a problem's table, and the names of its columns."""


def write(folder: Path) -> None:
    """Writes every table, to five decimal places."""
    for name, (simulate, columns) in SIMULATED.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(columns)
            table.writerows([f"{entry:.5f}".rstrip("0").rstrip(".") for entry in row] for row in simulate())


def _rng(name: str) -> np.random.Generator:
    return stream(SEED, name, "data")


if __name__ == "__main__":
    write(DATA)
