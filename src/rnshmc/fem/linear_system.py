"""The symmetric linear system of a finite element problem in PETSc, on one rank or on several."""

import weakref
from collections.abc import Callable
from typing import Any

import dolfinx.fem.petsc as fem_petsc
import numpy as np
from mpi4py import MPI
from petsc4py import PETSc

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array

MULTIGRID_TOLERANCE = 1e-13
"""Factor by which conjugate gradients reduce the preconditioned residual, close to rounding."""

_MAX_ITERATIONS = 200
"""Maximum iterations, far more than the ten or so that multigrid takes."""


class LinearSystem:
    """K x = b for a symmetric positive definite K that is assembled repeatedly with the same pattern.

    ``form`` is compiled. The rows and columns of the Dirichlet conditions ``fixed`` are those of the identity.
    ``index_map`` has the space's degrees of freedom that this rank owns, and its ghosts. The ``solver`` "direct" is a
    Cholesky factorisation, PETSc's own on one rank and that of MUMPS on several; "multigrid" is conjugate gradients,
    preconditioned by the algebraic multigrid of hypre.

    The PETSc objects are destroyed with the system; on several ranks all have to let go of it together. Raises
    `ParameterError` if there is no such solver, or PETSc was built without the package that it takes.
    """

    def __init__(self, form: Any, fixed: list[Any], index_map: Any, comm: MPI.Comm, solver: str) -> None:
        if solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
        self._form, self._fixed, self._comm = form, fixed, comm
        self._matrix = fem_petsc.create_matrix(form)
        self._load, self._solution = (_vector(self._matrix, index_map, comm) for _ in range(2))
        self._ksp = PETSc.KSP().create(comm)
        self._ksp.setOperators(self._matrix)
        SOLVERS[solver](self._ksp, self._matrix)
        owned = (self._ksp, self._load, self._solution, self._matrix)
        # Not at exit: PETSc may have been finalised by then.
        weakref.finalize(self, _destroy, owned).atexit = False

    def assemble(self) -> None:
        """Assemble K from the form's current coefficients. The next solve factorises it."""
        self._matrix.zeroEntries()
        fem_petsc.assemble_matrix(self._matrix, self._form, bcs=self._fixed)
        self._matrix.assemble()

    def solve(self, load: Array) -> Array:
        """x at the degrees of freedom of this rank, ghosts included.

        ``load`` is this rank's part of b at the same degrees of freedom: the parts of all ranks are added up. Raises
        `NumericalError` if the factorisation or the iteration fails, on all ranks together.
        """
        with self._load.localForm() as values:
            values.setArray(load)
        self._load.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        self._ksp.solve(self._load, self._solution)
        if self._ksp.getConvergedReason() < 0:
            raise NumericalError(f"diffusion solve: PETSc stopped with reason {self._ksp.getConvergedReason()}")
        self._solution.ghostUpdate(addv=PETSc.InsertMode.INSERT, mode=PETSc.ScatterMode.FORWARD)
        with self._solution.localForm() as values:
            solution: Array = values.getArray(readonly=True).copy()
        if not on_all_ranks(self._comm, bool(np.isfinite(solution).all())):
            raise NumericalError("diffusion solve: the solution is not finite")
        return solution


def on_all_ranks(comm: MPI.Comm, holds: bool) -> bool:
    """Whether a condition holds on every rank, so that collective work is done by all of them or by none."""
    return holds if comm.size == 1 else comm.allreduce(holds, op=MPI.LAND)


def _vector(matrix: Any, index_map: Any, comm: MPI.Comm) -> Any:
    """A vector of the space, with room for the ghosts on several ranks."""
    if comm.size == 1:
        return matrix.createVecRight()
    size = (index_map.size_local, index_map.size_global)
    return PETSc.Vec().createGhost(index_map.ghosts.astype(PETSc.IntType), size=size, comm=comm)


def _direct(ksp: Any, matrix: Any) -> None:
    """Cholesky factorisation with nested dissection: two thirds of the time of LU, with the default ordering's fill."""
    ksp.setType(PETSc.KSP.Type.PREONLY)
    ksp.getPC().setType(PETSc.PC.Type.CHOLESKY)
    if ksp.comm.size == 1:
        ksp.getPC().setFactorOrdering("nd")
        # PETSc's threshold for a zero pivot is absolute, but the scale of c is arbitrary.
        ksp.getPC().setFactorPivot(zeropivot=np.finfo(float).tiny)
    else:
        _check_package("mumps", "direct on several ranks")
        # MUMPS assumes an indefinite matrix by default.
        matrix.setOption(PETSc.Mat.Option.SPD, True)
        ksp.getPC().setFactorSolverType("mumps")


def _multigrid(ksp: Any, _matrix: Any) -> None:
    """Conjugate gradients, started from zero so that the result does not depend on earlier solves."""
    _check_package("hypre", "multigrid")
    ksp.setType(PETSc.KSP.Type.CG)
    ksp.setTolerances(rtol=MULTIGRID_TOLERANCE, atol=0.0, max_it=_MAX_ITERATIONS)
    ksp.getPC().setType(PETSc.PC.Type.HYPRE)
    ksp.getPC().setHYPREType("boomeramg")


SOLVERS: dict[str, Callable[[Any, Any], None]] = {"direct": _direct, "multigrid": _multigrid}


def _check_package(package: str, solver: str) -> None:
    if not PETSc.Sys.hasExternalPackage(package):
        raise ParameterError(f"solver: {solver} needs PETSc with {package}, which this PETSc lacks")


def _destroy(objects: tuple[Any, ...]) -> None:
    """Free PETSc's memory; garbage collection alone does not."""
    for item in objects:
        item.destroy()
