"""The data files of the problems: python -m peers.data --problem Q --output O, in the project's environment.

They are those of the run "paper" (config/config.yaml), from the same seed; raw files come from RNSHMC_DATA_MIRROR,
where that is set, or from their public addresses, and are never replaced by a stand-in.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.datasets.synthetic import simulate_garch
from rnshmc.random import stream

ROOT = Path(__file__).parents[2]
SEED = 20170913
"""Of config/config.yaml."""
PRECISE = 0.02
"""Standard deviation of the noise of the problem "pde_precise"."""


def _processed(dataset: str, output: Path) -> None:
    """A set as the pipeline prepares it from real data."""
    path = f"data/processed/{dataset}.npz"
    settings = ["--configfile", "config/config.yaml", "--config", "data={policy: real-only}"]
    subprocess.run([sys.executable, "-m", "snakemake", "--cores", "1", *settings, "--", path], cwd=ROOT, check=True)
    shutil.copy(ROOT / path, output)


def _simulated(output: Path, dim: int, name: str) -> None:
    simulate_logistic(100000, dim, stream(SEED, name, "data")).save(output)


def _pde(output: Path, noise_sd: float, modes: int = 20) -> None:
    from mpi4py import MPI

    from rnshmc.targets.elliptic_settings import EllipticSettings, ForwardSettings
    from rnshmc.targets.forward_model import run_forward_model

    settings = ForwardSettings(seed=SEED, members=1, noise_sd=noise_sd, model=EllipticSettings(modes=modes))
    data = run_forward_model(MPI.COMM_SELF, settings)
    assert data is not None
    data.save(output)


def _garch(output: Path) -> None:
    rng = stream(SEED, "garch", "data")
    simulate_garch(1000, alpha=[0.015, 0.1, 0.2], beta=[0.6], rng=rng).save(output)


def _nothing(output: Path) -> None:
    """A problem without data, or with data that are kept in git."""
    np.savez(output)


MAKERS: dict[str, Callable[[Path], None]] = {
    "lr_simulated": lambda output: _simulated(output, 50, "lr_simulated"),
    "lr_200": lambda output: _simulated(output, 200, "lr_200"),
    "lr_300": lambda output: _simulated(output, 300, "lr_300"),
    "lr_500": lambda output: _simulated(output, 500, "lr_500"),
    "news": lambda output: _processed("news", output),
    "dota2": lambda output: _processed("dota2", output),
    "bank": lambda output: _processed("bank", output),
    "a9a": lambda output: _processed("a9a", output),
    "pde": lambda output: _pde(output, 0.1),
    "pde_precise": lambda output: _pde(output, PRECISE),
    "pde_50": lambda output: _pde(output, 0.1, 50),
    "pde_100": lambda output: _pde(output, 0.1, 100),
    "pde_200": lambda output: _pde(output, 0.1, 200),
    "garch": _garch,
    "twisted": _nothing,
    "funnel": _nothing,
    "funnel_10": _nothing,
    "banana": _nothing,
    "student": _nothing,
    "contaminated": _nothing,
    "close_normals": _nothing,
    "eight_schools": _nothing,
    "eight_schools_centred": _nothing,
    "two_normals": _nothing,
    "three_normals": _nothing,
    "membrane": _nothing,
    "sir": _nothing,
    "decay": _nothing,
    "chain": _nothing,
    "lotka_volterra": _nothing,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", choices=MAKERS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    MAKERS[arguments.problem](arguments.output)


if __name__ == "__main__":
    main()
