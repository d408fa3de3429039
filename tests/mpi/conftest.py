"""Programs on several ranks."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def on_ranks(launch: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., str]:
    """``on_ranks(2, program, *arguments)`` runs a Python file under MPI and returns its output."""

    def on_ranks(ranks: int, program: Path, *arguments: str) -> str:
        # mpi4py's runner ends all ranks when one raises.
        done = launch(ranks, "-m", "mpi4py", program, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return on_ranks
