"""What differs between the dolfinx versions 0.5.2 to 0.11, and nothing else.

The only file that knows of versions; it asks for attributes and signatures, not for version strings.
"""

import inspect
import signal
import threading
from collections.abc import Callable
from typing import Any

import dolfinx
import numpy as np
import numpy.typing as npt
from dolfinx import fem, geometry
from petsc4py import PETSc

from rnshmc.types import Array


def _give_signals_back_to_python() -> None:
    """Undo PETSc's signal handlers: they end the process over what Python raises or ignores, such as a broken pipe."""
    PETSc.Sys.popSignalHandler()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.getsignal(signal.SIGPIPE))


_give_signals_back_to_python()

VERSION: str = dolfinx.__version__

# Compilation is behind a lock file, for which other processes wait 10 s unless told otherwise.
_LOCK_TIMEOUT_S = 600


def function_space(mesh: Any, family: str, degree: int) -> Any:
    """Finite element space on ``mesh``: a class up to 0.7, a function afterwards."""
    create = fem.functionspace if hasattr(fem, "functionspace") else fem.FunctionSpace
    return create(mesh, (family, degree), **_jit_settings(create))


def compile_form(form: Any) -> Any:
    """Compiled form, waiting as long as it takes for another process that compiles the same."""
    return fem.form(form, **_jit_settings(fem.form))


def cell_dofs(space: Any) -> npt.NDArray[np.int32]:
    """Degrees of freedom of each cell of this rank, ghosts included, (n_cells, k).

    An adjacency list up to 0.6, an array afterwards.
    """
    dofs = space.dofmap.list
    return np.array(getattr(dofs, "array", dofs)).reshape(-1, space.dofmap.dof_layout.num_dofs)


def colliding_cells(mesh: Any, points: Array) -> list[npt.NDArray[np.int32]]:
    """Cells of this rank, ghosts included, that hold each of ``points``, shape (n, 3): none, one or several."""
    if hasattr(geometry, "bb_tree"):
        tree = geometry.bb_tree(mesh, mesh.topology.dim)
        boxes = geometry.compute_collisions_points(tree, points)
    else:
        tree = geometry.BoundingBoxTree(mesh, mesh.topology.dim)
        boxes = geometry.compute_collisions(tree, points)
    cells = geometry.compute_colliding_cells(mesh, boxes, points)
    return [np.asarray(cells.links(i)) for i in range(len(points))]


def _jit_settings(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword under which ``function`` takes settings of the compilation, with a longer wait for the lock."""
    accepted = inspect.signature(function).parameters
    return {name: {"timeout": _LOCK_TIMEOUT_S} for name in ("jit_options", "jit_params") if name in accepted}
