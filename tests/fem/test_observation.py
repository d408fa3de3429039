import subprocess
from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.random import stream

dolfinx = pytest.importorskip("dolfinx")

from rnshmc.fem.diffusion import DiffusionSolver  # noqa: E402
from rnshmc.types import Array  # noqa: E402

# What each rank of a distributed mesh observes of x1 + 2 x2, at nodes on partition boundaries among others.
DISTRIBUTED = """
import numpy as np
from dolfinx import mesh
from mpi4py import MPI
from rnshmc.fem import compat
from rnshmc.fem.observation import observation_matrix

domain = mesh.create_unit_square(MPI.COMM_WORLD, 6, 6, mesh.CellType.triangle)
space, broken = (compat.function_space(domain, family, 1) for family in ("Lagrange", "DG"))
side = np.linspace(0.0, 1.0, 7)
points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
matrix = observation_matrix(space, broken, points)
u = space.tabulate_dof_coordinates()[:, :2] @ np.array([1.0, 2.0])
owners = MPI.COMM_WORLD.allreduce((np.diff(matrix.indptr) > 0).astype(int))
observed = MPI.COMM_WORLD.allreduce(matrix @ u)
assert MPI.COMM_WORLD.size == 2
np.testing.assert_array_equal(owners, 1)
np.testing.assert_allclose(observed, points @ np.array([1.0, 2.0]), rtol=0, atol=1e-13)
"""


def solver(cell_type: str) -> DiffusionSolver:
    return DiffusionSolver(7, cell_type, lambda x1, x2: x1)


def bilinear(points: Array) -> Array:
    x1, x2 = points.T
    values: Array = 1.0 + 2.0 * x1 - 3.0 * x2 + 5.0 * x1 * x2
    return values


def linear(points: Array) -> Array:
    x1, x2 = points.T
    values: Array = 1.0 + 2.0 * x1 - 3.0 * x2
    return values


@pytest.mark.parametrize(("cell_type", "function"), [("quadrilateral", bilinear), ("triangle", linear)])
def test_observation_is_exact_for_the_functions_of_the_space(cell_type: str, function: object) -> None:
    assert callable(function)
    system = solver(cell_type)
    inside = stream(1, "sensors").random((50, 2))
    corners_and_sides = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 1.0], [1.0, 0.3]])
    points = np.concatenate([inside, corners_and_sides, system.nodes])
    observed = system.observation_matrix(points) @ function(system.nodes)
    np.testing.assert_allclose(observed, function(points), rtol=0, atol=1e-13)


def test_observation_at_a_node_is_the_value_there() -> None:
    system = solver("quadrilateral")
    matrix = system.observation_matrix(system.nodes).toarray()
    np.testing.assert_allclose(matrix, np.eye(len(system.nodes)), rtol=0, atol=1e-13)


def test_sensor_outside_the_domain_is_named() -> None:
    points = np.array([[0.5, 0.5], [0.5, 1.01]])
    with pytest.raises(ParameterError, match=r"points\[1\] = \(0\.5, 1\.01\) lies outside the domain"):
        solver("quadrilateral").observation_matrix(points)


def test_on_a_distributed_mesh_each_sensor_has_one_owner(
    launch: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    # mpi4py's runner ends all ranks when one raises.
    done = launch(2, "-m", "mpi4py", "-c", DISTRIBUTED)
    assert done.returncode == 0, done.stdout + done.stderr
