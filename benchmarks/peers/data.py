"""The data files of the problems: python -m peers.data --problem Q --output O, in the project's environment.

They are those of the run "paper" (config/config.yaml), from the same seed; raw files come from RNSHMC_DATA_MIRROR,
where that is set, or from their public addresses, and are never replaced by a stand-in.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rnshmc.datasets.adult import encode_a9a
from rnshmc.datasets.bank import prepare_bank
from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.project import project
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.datasets.sources import load_sources
from rnshmc.datasets.synthetic import simulate_garch
from rnshmc.random import stream

ROOT = Path(__file__).parents[2]
SEED = 20170913
"""Of config/config.yaml."""
PRECISE = 0.02
"""Standard deviation of the noise of the problem "pde_precise"."""


def _receipt(dataset: str) -> tuple[Receipt, Path]:
    raw = ROOT / "data/raw"
    mirror = os.environ.get("RNSHMC_DATA_MIRROR")
    sources = load_sources(ROOT / "data/sources.yaml")
    return fetch(dataset, sources, raw_dir=raw, mirror=mirror, policy="real-only"), raw


def _lr_simulated(output: Path) -> None:
    simulate_logistic(100000, 50, stream(SEED, "lr_simulated", "data")).save(output)


def _bank(output: Path) -> None:
    receipt, raw = _receipt("bank")
    summary = ROOT / "data/standin/bank.csv"
    prepare_bank(receipt, raw_dir=raw, summary=summary, rng=stream(SEED, "stand-in", "bank")).save(output)


def _a9a(output: Path) -> None:
    receipt, raw = _receipt("adult")
    summary = ROOT / "data/standin/a9a.csv"
    encoded = encode_a9a(receipt, raw_dir=raw, summary=summary, rng=stream(SEED, "stand-in", "adult"))
    project(encoded, dim=60, rng=stream(SEED, "a9a", "projection")).save(output)


def _pde(output: Path, noise_sd: float) -> None:
    from mpi4py import MPI

    from rnshmc.targets.elliptic_settings import ForwardSettings
    from rnshmc.targets.forward_model import run_forward_model

    data = run_forward_model(MPI.COMM_SELF, ForwardSettings(seed=SEED, members=1, noise_sd=noise_sd))
    assert data is not None
    data.save(output)


def _garch(output: Path) -> None:
    rng = stream(SEED, "garch", "data")
    simulate_garch(1000, alpha=[0.015, 0.1, 0.2], beta=[0.6], rng=rng).save(output)


def _nothing(output: Path) -> None:
    """A problem without data."""
    np.savez(output)


MAKERS: dict[str, Callable[[Path], None]] = {
    "lr_simulated": _lr_simulated,
    "bank": _bank,
    "a9a": _a9a,
    "pde": lambda output: _pde(output, 0.1),
    "pde_precise": lambda output: _pde(output, PRECISE),
    "garch": _garch,
    "twisted": _nothing,
    "funnel": _nothing,
    "membrane": _nothing,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", choices=MAKERS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    MAKERS[arguments.problem](arguments.output)


if __name__ == "__main__":
    main()
