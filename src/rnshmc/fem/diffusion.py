"""The diffusion equation -div(c grad u) = 0 on the unit square, solved with one factorisation for every load.

Everything independent of c is computed once: mesh, compiled form, matrix pattern, symbolic factorisation and the
stiffness matrix of each cell for c = 1.

The mesh may be distributed over ranks. Then each rank has the cells that it owns and all of their nodes. Values at a
node are right on every rank that has it. A load is a sum over cells: every rank has the part from its own cells, and
the parts of all ranks add up to the load. All ranks have to make the same calls, and they fail together.
"""

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
from rnshmc.fem.linear_system import LinearSystem, on_all_ranks
from rnshmc.fem.observation import observation_matrix
from rnshmc.types import Array

CELL_TYPES = {"quadrilateral": mesh.CellType.quadrilateral, "triangle": mesh.CellType.triangle}
_BROKEN_FAMILIES = {"quadrilateral": "DQ", "triangle": "DG"}

# Exact for products of gradients of (bi)linear functions on parallelograms; ufl's estimate is higher.
_QUADRATURE = {"quadrature_degree": 2}


class DiffusionSolver:
    """(Bi)linear finite elements for the diffusion equation with one value of c per cell.

    u is given on the sides x2 = 0 and x2 = 1; the normal flux vanishes on the other two (paper A, eq. 13). ``cells`` is
    the number of squares along a side; those of ``"triangle"`` are cut in two along the diagonal x1 = x2. The function
    ``boundary`` of (x1, x2), vectorised, has the given values on x2 = 0 and x2 = 1; its values inside are used as the
    lift and do not change the solution. The ranks of ``comm`` share the mesh; without it, the rank that makes the
    solver has all of it. Raises `ParameterError` if ``cells`` is not positive, or ``cell_type`` or ``solver`` is
    unknown or unavailable.
    """

    def __init__(
        self,
        cells: int,
        cell_type: str,
        boundary: Callable[[Array, Array], Array],
        *,
        comm: MPI.Comm | None = None,
        solver: str = "direct",
    ) -> None:
        if cells < 1:
            raise ParameterError(f"cells must be at least 1, got {cells}")
        if cell_type not in CELL_TYPES:
            raise ParameterError(f"cell_type must be one of {', '.join(CELL_TYPES)}, got {cell_type!r}")
        self._comm = comm or MPI.COMM_SELF
        domain = mesh.create_unit_square(
            self._comm, cells, cells, CELL_TYPES[cell_type], diagonal=mesh.DiagonalType.right
        )
        own = domain.topology.index_map(domain.topology.dim).size_local
        self._space = compat.function_space(domain, "Lagrange", 1)
        self._broken_space = compat.function_space(domain, _BROKEN_FAMILIES[cell_type], 1)
        coefficient = fem.Function(compat.function_space(domain, "DG", 0))
        # A rank's own cells come first; nothing is integrated over its ghosts.
        self._c = coefficient.x.array[:own]
        self.forget()
        self.nodes: Array = self._space.tabulate_dof_coordinates()[:, :2].copy()
        """Of this rank's cells, shape (n_nodes, 2)."""
        self.centroids: Array = coefficient.function_space.tabulate_dof_coordinates()[:own, :2].copy()
        """Of this rank's cells, shape (n_cells, 2)."""

        self._cell_nodes = compat.cell_dofs(self._space)[:own]
        self._cell_stiffness = _cell_stiffness(self._broken_space, own)
        self._lift = boundary(*self.nodes.T)
        self._lift_forces = self._cell_forces(self._lift)
        fixed = _fixed_nodes(self._space)
        self._free = np.ones(len(self.nodes), dtype=bool)
        self._free[fixed] = False
        # The value does not matter: it makes the assembly put the identity into the rows and columns of these nodes.
        conditions = [fem.dirichletbc(PETSc.ScalarType(0), fixed, self._space)]
        form = _stiffness_form(self._space, coefficient)
        self._system = LinearSystem(form, conditions, self._space.dofmap.index_map, self._comm, solver)

    def factorise(self, c: Array) -> None:
        """Assemble the system for ``c``, shape (n_cells,) in the order of ``centroids``.

        The first solve after it factorises, the others use that factorisation; a failed one raises there. Doing so for
        the same c again costs a comparison. Raises `NumericalError` if c is not finite and positive.
        """
        if on_all_ranks(self._comm, np.array_equal(c, self._c)):
            return
        if not on_all_ranks(self._comm, bool(np.isfinite(c).all() and (c > 0.0).all())):
            raise NumericalError("diffusion coefficient: not finite and positive in every cell")
        self._c[:] = c
        self._system.assemble()

    def forget(self) -> None:
        """Make the next `factorise` reassemble for any c, like a code without a cache."""
        self._c[:] = np.nan  # Unequal to every c

    def forward(self) -> Array:
        """Solution u at the nodes, shape (n_nodes,), with the given boundary values.

        Raises `NumericalError` if the solve fails.
        """
        return self._lift - self.solve(self._gather(self._c[:, None] * self._lift_forces))

    def solve(self, load: Array) -> Array:
        """Solution of K(c) x = load at the free nodes, x = 0 at the fixed ones; K is symmetric.

        Serves the adjoint equation (load: a derivative with respect to u) and sources (load: their integrals against
        the nodal basis functions). Raises `NumericalError` if the factorisation or the solve fails.
        """
        return self._system.solve(load * self._free)

    def sum_over_ranks(self, part: Array) -> Array:
        """Sum over the ranks, with the same bytes on each, as MPI requires of a reduction."""
        if self._comm.size == 1:
            return part
        total = np.empty_like(part)
        self._comm.Allreduce(np.ascontiguousarray(part), total)
        return total

    def cell_energies(self, u: Array, v: Array) -> Array:
        """Integrals of grad u . grad v over each cell, shape (n_cells,): the derivative of v'K(c)u by c.

        For ``u`` and ``v`` of shape (n_nodes, r), the sum over pairs of columns.
        """
        products = self._cell_forces(u) * v[self._cell_nodes]
        energies: Array = products.reshape(len(products), -1).sum(axis=1)
        return energies

    def energy_matrix(self, u: Array) -> csr_array:
        """Sparse (n_cells, n_nodes) matrix that takes v to ``cell_energies(u, v)``; its transpose takes c to K(c) u.

        The rows of K(c) at the fixed nodes are without boundary conditions.
        """
        count, corners = self._cell_nodes.shape
        entries = (self._cell_forces(u).ravel(), self._cell_nodes.ravel(), corners * np.arange(count + 1))
        return csr_array(entries, shape=(count, len(self.nodes)))

    def stiffness_product(self, c: Array, u: Array) -> Array:
        """Sum of K(c_r) u_r over the columns of ``c``, (n_cells, r), and ``u``, (n_nodes, r): shape (n_nodes,).

        The rows of K at the fixed nodes are without boundary conditions.
        """
        return self._gather(np.einsum("ckr,cr->ck", self._cell_forces(u), c))

    def observation_matrix(self, points: Array) -> csr_array:
        """Sparse (n_points, n_nodes) matrix that takes nodal values to values at ``points``, shape (n_points, 2).

        Raises `ParameterError` if a point lies outside the unit square.
        """
        return observation_matrix(self._space, self._broken_space, points)

    def _cell_forces(self, u: Array) -> Array:
        """Stiffness matrix of each cell, for c = 1, times u on its nodes: (n_cells, k); (n_cells, k, r) for columns."""
        corners = u[self._cell_nodes]
        # For several columns, BLAS is many times faster; its order of summation depends on the machine.
        forces: Array = (
            np.einsum("cij,cj->ci", self._cell_stiffness, corners) if u.ndim == 1 else self._cell_stiffness @ corners
        )
        return forces

    def _gather(self, cell_loads: Array) -> Array:
        """Sum of the cells' loads, (n_cells, k), at each node: this rank's part of a load."""
        loads = np.bincount(self._cell_nodes.ravel(), weights=cell_loads.ravel(), minlength=len(self.nodes))
        return loads.astype(np.float64, copy=False)


def _stiffness_form(space: Any, coefficient: Any) -> Any:
    """Compiled form of the integral of c grad u . grad v."""
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    return compat.compile_form(coefficient * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx(metadata=_QUADRATURE))


def _cell_stiffness(broken_space: Any, own: int) -> Array:
    """Stiffness matrix of each own cell for c = 1, (n_cells, k, k): diagonal blocks of the broken space's matrix."""
    one = fem.Constant(broken_space.mesh, PETSc.ScalarType(1))
    matrix = fem_petsc.assemble_matrix(_stiffness_form(broken_space, one))
    matrix.assemble()
    indptr, indices, data = matrix.getValuesCSR()
    # Columns are numbered over all ranks, rows from this rank's first.
    blocks = csr_array((data, indices - matrix.getOwnershipRange()[0], indptr))
    matrix.destroy()
    dofs = compat.cell_dofs(broken_space)[:own]
    shape = (*dofs.shape, dofs.shape[1])
    rows, columns = np.broadcast_to(dofs[:, :, None], shape), np.broadcast_to(dofs[:, None, :], shape)
    return np.asarray(blocks[rows.ravel(), columns.ravel()]).reshape(shape)


def _fixed_nodes(space: Any) -> npt.NDArray[np.int32]:
    """Nodes on x2 = 0 and x2 = 1."""
    domain = space.mesh
    facet_dim = domain.topology.dim - 1
    facets = mesh.locate_entities_boundary(domain, facet_dim, lambda x: np.isclose(x[1], 0.0) | np.isclose(x[1], 1.0))
    return np.asarray(fem.locate_dofs_topological(space, facet_dim, facets))
