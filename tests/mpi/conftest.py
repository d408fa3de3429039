"""Programs on several ranks of whatever machine runs the tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# As root in a container too, on fewer cores than ranks too; ranks that wait for each other let others work meanwhile.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


@pytest.fixture(scope="session")
def on_ranks() -> Callable[..., str]:
    """``on_ranks(2, program, *arguments)`` runs a Python file under MPI and hands back what it printed."""
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    return _on_ranks


def _on_ranks(ranks: int, program: Path, *arguments: str) -> str:
    # mpi4py's runner ends all ranks when one raises.
    command = ["mpiexec", "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program), *arguments]
    done = subprocess.run(
        command, env={**os.environ, **OPEN_MPI}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
