"""The diffusion equation -div(c grad u) = 0 on the unit square, solved with one factorisation for every load.

Everything that does not depend on c is made once: mesh, compiled form, matrix pattern, symbolic factorisation and the
stiffness matrix of each cell for c = 1.
"""

import weakref
from collections.abc import Callable
from typing import Any

import dolfinx.fem.petsc as fem_petsc
import numpy as np
import numpy.typing as npt
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc
from scipy.sparse import csr_array

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.fem import compat
from rnshmc.fem.observation import observation_matrix
from rnshmc.types import Array

CELL_TYPES = {"quadrilateral": mesh.CellType.quadrilateral, "triangle": mesh.CellType.triangle}
_BROKEN_FAMILIES = {"quadrilateral": "DQ", "triangle": "DG"}

# Exact for products of gradients of (bi)linear functions on parallelograms; the estimate of ufl is higher.
_QUADRATURE = {"quadrature_degree": 2}


class DiffusionSolver:
    """(Bi)linear finite elements for the diffusion equation with one value of c per cell.

    u is given on the sides x2 = 0 and x2 = 1; the normal flux vanishes on the other two (paper A, eq. 13). Each rank
    that makes a solver has the whole mesh. The PETSc objects are destroyed with the solver.

    Parameters
    ----------
    cells
        Number of squares along a side.
    cell_type
        ``"quadrilateral"``, or ``"triangle"`` for squares cut in two along the diagonal x1 = x2.
    boundary
        Function of (x1, x2), vectorised, with the given values on x2 = 0 and x2 = 1. Its values inside are used as
        the lift and do not change the solution.

    Attributes
    ----------
    nodes : (n_nodes, 2)
    centroids : (n_cells, 2)

    Raises
    ------
    ParameterError
        If ``cells`` is not positive or ``cell_type`` is unknown.
    """

    def __init__(self, cells: int, cell_type: str, boundary: Callable[[Array, Array], Array]) -> None:
        if cells < 1:
            raise ParameterError(f"cells must be at least 1, got {cells}")
        if cell_type not in CELL_TYPES:
            raise ParameterError(f"cell_type must be one of {', '.join(CELL_TYPES)}, got {cell_type!r}")
        domain = mesh.create_unit_square(
            MPI.COMM_SELF, cells, cells, CELL_TYPES[cell_type], diagonal=mesh.DiagonalType.right
        )
        self._space = compat.function_space(domain, "Lagrange", 1)
        self._broken_space = compat.function_space(domain, _BROKEN_FAMILIES[cell_type], 1)
        self._coefficient = fem.Function(compat.function_space(domain, "DG", 0))
        self._coefficient.x.array[:] = np.nan  # No c is equal to it.
        self.nodes: Array = self._space.tabulate_dof_coordinates()[:, :2].copy()
        self.centroids: Array = self._coefficient.function_space.tabulate_dof_coordinates()[:, :2].copy()

        self._cell_nodes = compat.cell_dofs(self._space)
        self._cell_stiffness = _cell_stiffness(self._broken_space)
        self._lift = boundary(*self.nodes.T)
        self._lift_forces = self._cell_forces(self._lift)
        fixed = _fixed_nodes(self._space)
        self._free = np.ones(len(self.nodes), dtype=bool)
        self._free[fixed] = False
        # The value is of no account: it makes the assembly put the identity into the rows and columns of these nodes.
        self._fixed = [fem.dirichletbc(PETSc.ScalarType(0), fixed, self._space)]

        self._form = _stiffness_form(self._space, self._coefficient)
        self._matrix = fem_petsc.create_matrix(self._form)
        self._load, self._solution = self._matrix.createVecs()
        self._ksp = _direct_solver(self._matrix)
        owned = (self._ksp, self._load, self._solution, self._matrix)
        # Not at exit: PETSc may have been finalised by then.
        weakref.finalize(self, _destroy, owned).atexit = False

    def factorise(self, c: Array) -> None:
        """Assemble the system for ``c``, shape (n_cells,) in the order of ``centroids``.

        The first solve after it factorises, the others use that factorisation; a failed one raises there. Doing so for
        the same c again costs a comparison.

        Raises
        ------
        NumericalError
            If c is not finite and positive.
        """
        if np.array_equal(c, self._coefficient.x.array):
            return
        if not (np.isfinite(c).all() and (c > 0.0).all()):
            raise NumericalError("diffusion coefficient: not finite and positive in every cell")
        self._coefficient.x.array[:] = c
        self._matrix.zeroEntries()
        fem_petsc.assemble_matrix(self._matrix, self._form, bcs=self._fixed)
        self._matrix.assemble()

    def forward(self) -> Array:
        """Solution u at the nodes, shape (n_nodes,), with the given boundary values.

        Raises
        ------
        NumericalError
            If the solve fails.
        """
        c = self._coefficient.x.array
        return self._lift - self.solve(self._gather(c[:, None] * self._lift_forces))

    def solve(self, load: Array) -> Array:
        """Solution of K(c) x = load at the free nodes, x = 0 at the fixed ones; K is symmetric.

        Serves the adjoint equation (load: a derivative with respect to u) and sources (load: their integrals against
        the nodal basis functions).

        Raises
        ------
        NumericalError
            If the factorisation or the solve fails.
        """
        with self._load as values:
            np.multiply(load, self._free, out=values)
        self._ksp.solve(self._load, self._solution)
        if self._ksp.getConvergedReason() < 0:
            raise NumericalError(f"diffusion solve: PETSc stopped with reason {self._ksp.getConvergedReason()}")
        solution: Array = self._solution.getArray(readonly=True).copy()
        if not np.isfinite(solution).all():
            raise NumericalError("diffusion solve: the solution is not finite")
        return solution

    def cell_energies(self, u: Array, v: Array) -> Array:
        """Integrals of grad u . grad v over each cell, shape (n_cells,): the derivative of v'K(c)u by c.

        For columns, ``u`` and ``v`` of shape (n_nodes, r), the sum over the pairs of columns.
        """
        products = self._cell_forces(u) * v[self._cell_nodes]
        energies: Array = products.reshape(len(products), -1).sum(axis=1)
        return energies

    def energy_matrix(self, u: Array) -> csr_array:
        """Sparse (n_cells, n_nodes) matrix that takes v to ``cell_energies(u, v)``; its transpose takes c to K(c) u.

        The rows of K(c) at the fixed nodes are those of free ones.
        """
        count, corners = self._cell_nodes.shape
        entries = (self._cell_forces(u).ravel(), self._cell_nodes.ravel(), corners * np.arange(count + 1))
        return csr_array(entries, shape=(count, len(self.nodes)))

    def stiffness_product(self, c: Array, u: Array) -> Array:
        """Sum of K(c_r) u_r over the columns of ``c``, (n_cells, r), and ``u``, (n_nodes, r): shape (n_nodes,).

        The rows of K at the fixed nodes are those of free ones.
        """
        return self._gather(np.einsum("ckr,cr->ck", self._cell_forces(u), c))

    def observation_matrix(self, points: Array) -> csr_array:
        """Sparse (n_points, n_nodes) matrix that takes nodal values to values at ``points``, shape (n_points, 2).

        Raises
        ------
        ParameterError
            If a point lies outside the unit square.
        """
        return observation_matrix(self._space, self._broken_space, points)

    def _cell_forces(self, u: Array) -> Array:
        """Stiffness matrix of each cell, for c = 1, times u on its nodes: (n_cells, k); (n_cells, k, r) for columns."""
        corners = u[self._cell_nodes]
        # For columns a product by BLAS, many times faster; its order of summation depends on the machine.
        forces: Array = (
            np.einsum("cij,cj->ci", self._cell_stiffness, corners) if u.ndim == 1 else self._cell_stiffness @ corners
        )
        return forces

    def _gather(self, cell_loads: Array) -> Array:
        """Sum of the cells' loads, (n_cells, k), at each node."""
        loads = np.bincount(self._cell_nodes.ravel(), weights=cell_loads.ravel(), minlength=len(self.nodes))
        return loads.astype(np.float64, copy=False)


def _stiffness_form(space: Any, coefficient: Any) -> Any:
    """Compiled form of the integral of c grad u . grad v."""
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    return compat.compile_form(coefficient * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx(metadata=_QUADRATURE))


def _cell_stiffness(broken_space: Any) -> Array:
    """Stiffness matrix of each cell for c = 1, (n_cells, k, k): the diagonal blocks of the broken space's matrix."""
    one = fem.Constant(broken_space.mesh, PETSc.ScalarType(1))
    matrix = fem_petsc.assemble_matrix(_stiffness_form(broken_space, one))
    matrix.assemble()
    indptr, indices, data = matrix.getValuesCSR()
    blocks = csr_array((data, indices, indptr))
    matrix.destroy()
    dofs = compat.cell_dofs(broken_space)
    shape = (*dofs.shape, dofs.shape[1])
    rows, columns = np.broadcast_to(dofs[:, :, None], shape), np.broadcast_to(dofs[:, None, :], shape)
    return np.asarray(blocks[rows.ravel(), columns.ravel()]).reshape(shape)


def _fixed_nodes(space: Any) -> npt.NDArray[np.int32]:
    """Nodes on x2 = 0 and x2 = 1."""
    domain = space.mesh
    facet_dim = domain.topology.dim - 1
    facets = mesh.locate_entities_boundary(domain, facet_dim, lambda x: np.isclose(x[1], 0.0) | np.isclose(x[1], 1.0))
    return np.asarray(fem.locate_dofs_topological(space, facet_dim, facets))


def _direct_solver(matrix: Any) -> Any:
    """Cholesky factorisation with nested dissection: two thirds of the time of LU, the default ordering's fill."""
    ksp = PETSc.KSP().create(matrix.comm)
    ksp.setOperators(matrix)
    ksp.setType(PETSc.KSP.Type.PREONLY)
    ksp.getPC().setType(PETSc.PC.Type.CHOLESKY)
    ksp.getPC().setFactorOrdering("nd")
    # PETSc's threshold for a zero pivot is absolute; the scale of c is of no account.
    ksp.getPC().setFactorPivot(zeropivot=np.finfo(float).tiny)
    return ksp


def _destroy(objects: tuple[Any, ...]) -> None:
    """Give PETSc its memory back; garbage collection alone does not."""
    for item in objects:
        item.destroy()
