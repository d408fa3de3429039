"""Differences between the dolfinx versions 0.5.2 to 0.11, and nothing else.

This is the only file that depends on the version; it checks attributes and signatures, not version strings.
"""

import inspect
import logging
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dolfinx
import numpy as np
import numpy.typing as npt
from dolfinx import fem, geometry
from petsc4py import PETSc

from rnshmc.errors import StoreError
from rnshmc.types import Array

_log = logging.getLogger(__name__)


def _give_signals_back_to_python() -> None:
    """Undo PETSc's signal handlers, which end the process where Python raises or ignores, such as on a broken pipe."""
    PETSc.Sys.popSignalHandler()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.getsignal(signal.SIGPIPE))


_give_signals_back_to_python()

VERSION: str = dolfinx.__version__

# Compilation uses a lock file, for which other processes wait some seconds. They retry until it is so old that the
# process that made it must have been killed.
_PATIENCE_S = 10
_LOCK_TIMEOUT_S = 600
_LOCK = re.compile(r"remove (.+\.c)\)")


def function_space(mesh: Any, family: str, degree: int) -> Any:
    """Finite element space on ``mesh``: a class up to 0.7, a function afterwards.

    Raises `StoreError` if a killed process has left the lock on the element's compilation.
    """
    create = fem.functionspace if hasattr(fem, "functionspace") else fem.FunctionSpace
    return _patiently(lambda: create(mesh, (family, degree), **_jit_settings(create)), mesh.comm)


def compile_form(form: Any) -> Any:
    """Compile a form, waiting as long as needed for another process that compiles the same form.

    Raises `StoreError` if a killed process has left the lock on the form's compilation.
    """
    comm = form.ufl_domain().ufl_cargo().comm
    return _patiently(lambda: fem.form(form, **_jit_settings(fem.form)), comm)


def cell_dofs(space: Any) -> npt.NDArray[np.int32]:
    """Degrees of freedom of each cell of this rank, ghosts included, (n_cells, k).

    An adjacency list up to 0.6, an array afterwards.
    """
    dofs = space.dofmap.list
    return np.array(getattr(dofs, "array", dofs)).reshape(-1, space.dofmap.dof_layout.num_dofs)


def colliding_cells(mesh: Any, points: Array) -> list[npt.NDArray[np.int32]]:
    """Cells of this rank, ghosts included, that contain each of ``points``, shape (n, 3): none, one or several."""
    if hasattr(geometry, "bb_tree"):
        tree = geometry.bb_tree(mesh, mesh.topology.dim)
        boxes = geometry.compute_collisions_points(tree, points)
    else:
        tree = geometry.BoundingBoxTree(mesh, mesh.topology.dim)
        boxes = geometry.compute_collisions(tree, points)
    cells = geometry.compute_colliding_cells(mesh, boxes, points)
    return [np.asarray(cells.links(i)) for i in range(len(points))]


def _patiently(compiled: Callable[[], Any], comm: Any) -> Any:
    """Repeat a compilation that gives up after `_PATIENCE_S` if another process holds its lock.

    Collective: the compiler makes all ranks fail together, and only the first one knows the reason.
    """
    told = False
    while True:
        try:
            return compiled()
        except (TimeoutError, RuntimeError) as error:
            lock = comm.bcast(_lock_in(error), root=0)
            if lock is None:
                raise
            if comm.bcast(_age_s(lock) > _LOCK_TIMEOUT_S, root=0):
                raise StoreError(
                    f"{lock}: the lock of a compilation that was killed; remove it and run again"
                ) from error
            if not told and comm.rank == 0:
                _log.warning(
                    "waiting for another process to compile a form; if none is running, remove %s",
                    lock,
                )
            told = True


def _lock_in(error: Exception) -> Path | None:
    """The lock on which a compilation timed out; None if it failed for another reason."""
    named = _LOCK.search(str(error))
    return Path(named[1]) if named else None


def _age_s(lock: Path) -> float:
    """Age of a lock in seconds; 0 if it no longer exists."""
    return time.time() - lock.stat().st_mtime if lock.exists() else 0.0


def _jit_settings(function: Callable[..., Any]) -> dict[str, Any]:
    """Keyword argument with the compiler settings of ``function``, including the timeout for the lock."""
    accepted = inspect.signature(function).parameters
    return {name: {"timeout": _PATIENCE_S} for name in ("jit_options", "jit_params") if name in accepted}
