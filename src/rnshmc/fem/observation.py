"""Point observations of a finite element function as one sparse matrix."""

from typing import Any

import numpy as np
import numpy.typing as npt
from dolfinx import fem
from mpi4py import MPI
from scipy.sparse import csr_array

from rnshmc.errors import ParameterError
from rnshmc.fem import compat
from rnshmc.types import Array


def observation_matrix(space: Any, broken_space: Any, points: Array) -> csr_array:
    """Matrix B with (B u)_s = u_h(points[s]).

    Points have shape (n, 2), B has (n, n_dofs). ``broken_space`` is the discontinuous counterpart of a continuous
    Lagrange space: the same basis functions cell by cell. A point that several ranks hold belongs to the lowest of
    them; the rows of points that belong to other ranks are empty. Raises `ParameterError` if no rank holds a point; the
    message names it.
    """
    cells = _owned_cells(space.mesh, points)
    mine = np.flatnonzero(cells >= 0)
    basis = _basis_functions(broken_space, points[mine], cells[mine])
    columns = compat.cell_dofs(space)[cells[mine]]
    dof_map = space.dofmap.index_map
    shape = (len(points), dof_map.size_local + dof_map.num_ghosts)
    return csr_array((basis.ravel(), (np.repeat(mine, columns.shape[1]), columns.ravel())), shape=shape)


def _owned_cells(mesh: Any, points: Array) -> npt.NDArray[np.int32]:
    """For each point, its lowest cell on the lowest rank that contains it; -1 on the other ranks."""
    found = compat.colliding_cells(mesh, _in_three_dimensions(points))
    cells = np.array([min(candidates, default=-1) for candidates in found], dtype=np.int32)
    claims = np.where(cells >= 0, mesh.comm.rank, mesh.comm.size).astype(np.int32)
    owners = np.empty_like(claims)
    mesh.comm.Allreduce(claims, owners, op=MPI.MIN)
    for index in np.flatnonzero(owners == mesh.comm.size):
        raise ParameterError(f"points[{index}] = ({points[index, 0]}, {points[index, 1]}) lies outside the domain")
    return np.where(owners == mesh.comm.rank, cells, -1).astype(np.int32)


def _basis_functions(broken_space: Any, points: Array, cells: npt.NDArray[np.int32]) -> Array:
    """Values at each point of the basis functions of its cell, (n, k)."""
    dofs = compat.cell_dofs(broken_space)
    values = np.empty((len(points), dofs.shape[1]))
    function = fem.Function(broken_space)
    for local, column in enumerate(dofs.T):
        function.x.array[:] = 0.0
        function.x.array[column] = 1.0
        values[:, local] = function.eval(_in_three_dimensions(points), cells).reshape(-1)
    return values


def _in_three_dimensions(points: Array) -> Array:
    """Points of the plane in three dimensions, as dolfinx requires."""
    return np.column_stack([points, np.zeros(len(points))])
