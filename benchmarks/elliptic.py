"""Elliptic inverse problem, 30 x 30 bilinear: its gradient against one bare dolfinx assembly and LU solve, its metric
against its own forward solve."""

import sys
from collections.abc import Callable

import dolfinx.fem.petsc as fem_petsc
import numpy as np
import ufl
from dolfinx import fem, mesh
from harness import compare, report
from mpi4py import MPI
from petsc4py import PETSc

from rnshmc.fem import compat
from rnshmc.random import stream
from rnshmc.targets.elliptic import EllipticInverseProblem

CELLS, DIM = 30, 20


def bare_solve() -> Callable[[], object]:
    """What a dolfinx user writes: compiled form, assembly in place, lifting, PETSc's LU as it comes."""
    domain = mesh.create_unit_square(MPI.COMM_SELF, CELLS, CELLS, mesh.CellType.quadrilateral)
    space = compat.function_space(domain, "Lagrange", 1)
    c = fem.Function(compat.function_space(domain, "DG", 0))
    c.x.array[:] = np.exp(0.3 * stream(1, "benchmark", "field").standard_normal(c.x.array.size))
    pressure = fem.Function(space)
    pressure.interpolate(lambda x: x[0] * (1 - x[1]) + (1 - x[0]) * x[1])
    facets = mesh.locate_entities_boundary(domain, 1, lambda x: np.isclose(x[1], 0) | np.isclose(x[1], 1))
    fixed = [fem.dirichletbc(pressure, fem.locate_dofs_topological(space, 1, facets))]
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    form = compat.compile_form(c * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    matrix = fem_petsc.create_matrix(form)
    load, solution = matrix.createVecs()
    ksp = PETSc.KSP().create(MPI.COMM_SELF)
    ksp.setOperators(matrix)
    ksp.setType("preonly")
    ksp.getPC().setType("lu")

    def solve() -> object:
        matrix.zeroEntries()
        fem_petsc.assemble_matrix(matrix, form, bcs=fixed)
        matrix.assemble()
        load.set(0.0)
        fem_petsc.apply_lifting(load, [form], [fixed])
        fem_petsc.set_bc(load, fixed)
        ksp.solve(load, solution)
        return solution

    return solve


def main() -> int:
    side = np.linspace(0.0, 1.0, 11)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    rng = stream(1, "benchmark", "elliptic")
    observations = rng.standard_normal(len(points))
    target, resting = (EllipticInverseProblem(points, observations) for _ in range(2))
    # A new position for each call, as in a chain.
    positions = iter(0.5 * rng.standard_normal((10_000, DIM)))
    bare = bare_solve()
    factor, q = rng.standard_normal((DIM, DIM)), next(positions)

    def forward() -> object:
        return target.value(next(positions))

    def metric_and_slope() -> object:
        q = next(positions)
        return target.metric(q), target.metric_vjp(q, factor)

    def slope_again() -> object:
        return resting.metric_vjp(q, factor[:, :1])

    return report(
        [
            compare("value_and_grad / assemble + LU", lambda: target.value_and_grad(next(positions)), bare, bound=2.5),
            compare("metric and metric_vjp, r = 20 / forward solve", metric_and_slope, forward, bound=60),
            compare("metric_vjp again, r = 1 / forward solve", slope_again, forward, bound=1),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
