"""The finite element libraries do not change Python's signal handling."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("dolfinx")


def test_a_broken_pipe_is_an_exception_and_not_the_end_of_the_process() -> None:
    program = (
        "import rnshmc.fem.compat, os\n"
        "reader, writer = os.pipe()\n"
        "os.close(reader)\n"
        "try:\n"
        "    os.write(writer, b'nobody reads this')\n"
        "except BrokenPipeError:\n"
        "    print('raised')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "raised\n", done.stderr


PROGRAM = """
import sys, logging
import rnshmc.fem.compat as compat
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc
from rnshmc.errors import StoreError
compat._PATIENCE_S, compat._LOCK_TIMEOUT_S = 1, float(sys.argv[1])
square = mesh.create_unit_square(MPI.COMM_SELF, 1, 1)
try:
    compat.compile_form(fem.Constant(square, PETSc.ScalarType(1)) * ufl.dx(square))
except StoreError as error:
    sys.exit(f"StoreError: {error}")
"""


@pytest.fixture
def stale_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock of a killed compilation, in this test's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiling = subprocess.Popen([sys.executable, "-c", PROGRAM, "600"])
    while not (locks := list(tmp_path.glob("fenics/*.c"))):
        assert compiling.poll() is None
        time.sleep(0.01)
    compiling.kill()
    compiling.wait()
    assert not list(tmp_path.glob("fenics/*.cached"))
    return locks[0]


def test_an_old_lock_ends_the_wait_and_is_named(stale_lock: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"StoreError: {stale_lock}: the lock of a compilation that was killed; remove it" in done.stderr


def test_a_waiting_process_names_the_lock_and_continues_once_it_is_removed(stale_lock: Path) -> None:
    waiting = subprocess.Popen([sys.executable, "-c", PROGRAM, "600"], stderr=subprocess.PIPE, text=True)
    assert waiting.stderr is not None
    said = next(line for line in waiting.stderr if "waiting" in line)
    assert f"if none is running, remove {stale_lock}\n" in said
    stale_lock.unlink()
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert stale_lock.with_suffix(".c.cached").exists()
