import gc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream

dolfinx = pytest.importorskip("dolfinx")

from petsc4py import PETSc  # noqa: E402

from rnshmc.fem.diffusion import CELL_TYPES, DiffusionSolver  # noqa: E402
from rnshmc.types import Array  # noqa: E402

PI = np.pi
EPS = float(np.finfo(np.float64).eps)


def boundary(x1: Array, x2: Array) -> Array:
    pressure: Array = x1 * (1.0 - x2) + (1.0 - x1) * x2
    return pressure


def random_coefficient(system: DiffusionSolver, *purpose: str) -> Array:
    coefficient: Array = np.exp(stream(1, *purpose).standard_normal(len(system.centroids)))
    return coefficient


@pytest.fixture(params=CELL_TYPES)
def system(request: pytest.FixtureRequest) -> DiffusionSolver:
    return DiffusionSolver(6, request.param, boundary)


# A smooth c and a u with no flux through x1 = 0 and x1 = 1; the source is f = -div(c grad u).


def smooth_c(x1: Array, x2: Array) -> Array:
    c: Array = 1.0 + 0.5 * np.sin(2.0 * x1 + 3.0 * x2)
    return c


def exact_u(x1: Array, x2: Array) -> Array:
    u: Array = np.cos(PI * x1) * (1.0 + x2**2) + x2**3
    return u


def source(x1: Array, x2: Array) -> Array:
    slope_c = 0.5 * np.cos(2.0 * x1 + 3.0 * x2)
    u_1 = -PI * np.sin(PI * x1) * (1.0 + x2**2)
    u_2 = 2.0 * x2 * np.cos(PI * x1) + 3.0 * x2**2
    laplacian = -(PI**2) * np.cos(PI * x1) * (1.0 + x2**2) + 2.0 * np.cos(PI * x1) + 6.0 * x2
    f: Array = -(2.0 * slope_c * u_1 + 3.0 * slope_c * u_2 + smooth_c(x1, x2) * laplacian)
    return f


def manufactured_error(cells: int, cell_type: str) -> float:
    """Largest nodal error; the source is integrated by the nodal rule, of order 2 as the elements are."""
    system = DiffusionSolver(cells, cell_type, exact_u)
    x1, x2 = system.nodes.T
    on_sides = np.isclose(x1, 0.0) | np.isclose(x1, 1.0)
    weights = np.where(on_sides, 0.5, 1.0) / cells**2
    system.factorise(smooth_c(*system.centroids.T))
    u = system.forward() + system.solve(weights * source(x1, x2))
    return float(np.abs(u - exact_u(x1, x2)).max())


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_manufactured_solution_converges_with_order_two(cell_type: str) -> None:
    coarse, fine = manufactured_error(16, cell_type), manufactured_error(32, cell_type)
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_layers_of_diffusivity_have_the_closed_form_solution(cell_type: str) -> None:
    """With u = 0 below, u = 1 above and c = c(x2), u is the share of the resistance below: exact at the nodes."""
    system = DiffusionSolver(4, cell_type, lambda x1, x2: x2)
    layers = np.array([1.0, 10.0, 0.1, 5.0])
    system.factorise(layers[(4 * system.centroids[:, 1]).astype(int)])
    resistance = np.concatenate([[0.0], np.cumsum(1.0 / layers)])
    level = np.rint(4 * system.nodes[:, 1]).astype(int)
    # Diffusivities of the ratio 100 on 4 x 4 cells: the condition number of the stiffness is below 100 * 4^2.
    np.testing.assert_allclose(system.forward(), resistance[level] / resistance[-1], rtol=0, atol=10 * EPS * 100 * 4**2)


def test_boundary_values_are_the_given_ones(system: DiffusionSolver) -> None:
    system.factorise(random_coefficient(system, "boundary"))
    u, (x1, x2) = system.forward(), system.nodes.T
    below, above = np.isclose(x2, 0.0), np.isclose(x2, 1.0)
    assert below.sum() == above.sum() == 7
    np.testing.assert_allclose(u[below], x1[below], rtol=0, atol=10 * EPS)
    np.testing.assert_allclose(u[above], 1.0 - x1[above], rtol=0, atol=10 * EPS)


def test_solution_depends_on_the_boundary_values_alone_not_on_the_lift(system: DiffusionSolver) -> None:
    other = DiffusionSolver(
        6, "quadrilateral" if len(system.centroids) == 36 else "triangle", lambda x1, x2: np.where(x2 < 0.5, x1, 1 - x1)
    )
    c = random_coefficient(system, "lift")
    for solver in (system, other):
        solver.factorise(c)
    np.testing.assert_allclose(other.forward(), system.forward(), rtol=0, atol=1e-13)


def test_the_weak_form_holds_for_every_test_function(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "weak")
    system.factorise(c)
    v = stream(1, "test function").standard_normal(len(system.nodes))
    v[np.isclose(np.abs(system.nodes[:, 1] - 0.5), 0.5)] = 0.0
    assert c @ system.cell_energies(system.forward(), v) == pytest.approx(0.0, abs=1e-12)


def test_solve_is_symmetric_and_inverts_the_stiffness(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "symmetry")
    system.factorise(c)
    a, b = stream(1, "loads").standard_normal((2, len(system.nodes)))
    x, y = system.solve(a), system.solve(b)
    assert a @ y == pytest.approx(b @ x, rel=1e-12)
    assert c @ system.cell_energies(x, y) == pytest.approx(a @ y, rel=1e-12)


def test_energy_matrix_takes_test_functions_to_energies_and_coefficients_to_loads(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "energy matrix")
    system.factorise(c)
    u, v = system.solve(stream(1, "load").standard_normal(len(system.nodes))), system.forward()
    matrix = system.energy_matrix(u)
    np.testing.assert_allclose(matrix @ v, system.cell_energies(u, v), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(system.solve(matrix.T @ c), u, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("columns", [1, 3])
def test_columns_are_summed(system: DiffusionSolver, columns: int) -> None:
    rng = stream(1, "columns")
    u, v = rng.standard_normal((2, len(system.nodes), columns))
    c = rng.standard_normal((len(system.centroids), columns))
    energies = sum(system.cell_energies(a, b) for a, b in zip(u.T, v.T, strict=True))
    product = sum(system.energy_matrix(a).T @ b for a, b in zip(u.T, c.T, strict=True))
    np.testing.assert_allclose(system.cell_energies(u, v), energies, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(system.stiffness_product(c, u), product, rtol=1e-12, atol=1e-13)


def test_the_same_coefficient_is_assembled_once(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "again")
    system.factorise(c)
    before, solution = system._system._matrix.stateGet(), system.forward()
    system.factorise(c.copy())
    assert system._system._matrix.stateGet() == before
    np.testing.assert_array_equal(system.forward(), solution)
    system.factorise(2.0 * c)
    assert system._system._matrix.stateGet() != before


def test_a_new_coefficient_replaces_the_old_factorisation(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "scaling")
    load = stream(1, "load").standard_normal(len(system.nodes))
    system.factorise(c)
    once = system.solve(load)
    system.factorise(4.0 * c)
    np.testing.assert_allclose(system.solve(load), once / 4.0, rtol=1e-12, atol=1e-15)


def test_no_coefficient_passes_for_that_of_a_new_solver(system: DiffusionSolver) -> None:
    for bad in (np.nan, 0.0):
        with pytest.raises(NumericalError, match="diffusion coefficient"):
            system.factorise(np.full(len(system.centroids), bad))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, -1.0])
def test_coefficient_that_is_not_finite_and_positive_is_a_numerical_error(system: DiffusionSolver, bad: float) -> None:
    c = np.ones(len(system.centroids))
    c[3] = bad
    with pytest.raises(NumericalError, match="diffusion coefficient"):
        system.factorise(c)


def test_solution_does_not_depend_on_the_scale_of_the_coefficient(system: DiffusionSolver) -> None:
    c = random_coefficient(system, "scale")
    system.factorise(c)
    expected = system.forward()
    for scale in (1e-100, 1e100):
        system.factorise(scale * c)
        np.testing.assert_allclose(system.forward(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("coefficient", "message"),
    [
        (1.7e308, "the solution is not finite"),  # the sum of two neighbours' entries overflows
        (5e-324, "PETSc stopped with reason"),  # no pivot is left
    ],
)
def test_failed_solve_is_a_numerical_error_and_leaves_the_solver_usable(
    system: DiffusionSolver, coefficient: float, message: str
) -> None:
    c = random_coefficient(system, "failure")
    system.factorise(c)
    before = system.forward()
    for _ in range(2):
        system.factorise(np.full(len(c), coefficient))
        with pytest.raises(NumericalError, match=f"diffusion solve: {message}"):
            system.forward()
    system.factorise(c)
    np.testing.assert_array_equal(system.forward(), before)


def test_multigrid_solves_what_the_factorisation_does(system: DiffusionSolver) -> None:
    cell_type = "quadrilateral" if len(system.centroids) == 36 else "triangle"
    multigrid = DiffusionSolver(6, cell_type, boundary, solver="multigrid")
    load = stream(1, "load").standard_normal(len(system.nodes))
    for purpose in ("rough", "other"):
        c = random_coefficient(system, purpose)
        system.factorise(c)
        multigrid.factorise(c)
        np.testing.assert_allclose(multigrid.forward(), system.forward(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(multigrid.solve(load), system.solve(load), rtol=0, atol=1e-12 * np.abs(load).max())
    np.testing.assert_array_equal(multigrid.solve(0.0 * load), 0.0)


def test_what_multigrid_solved_before_leaves_no_trace(system: DiffusionSolver) -> None:
    multigrid = DiffusionSolver(6, "quadrilateral", boundary, solver="multigrid")
    c, other = (np.exp(stream(1, name).standard_normal(36)) for name in ("c", "other"))
    multigrid.factorise(c)
    first = multigrid.forward()
    multigrid.factorise(other)
    multigrid.solve(first)
    multigrid.factorise(c)
    np.testing.assert_array_equal(multigrid.forward(), first)


def test_an_unknown_solver_is_named() -> None:
    with pytest.raises(ParameterError, match="solver must be one of direct, multigrid, got 'cg'"):
        DiffusionSolver(3, "triangle", boundary, solver="cg")


def test_a_package_that_petsc_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = SimpleNamespace(**{**vars(PETSc), "Sys": SimpleNamespace(hasExternalPackage=lambda name: name != "hypre")})
    monkeypatch.setattr("rnshmc.fem.linear_system.PETSc", bare)
    with pytest.raises(ParameterError, match="solver: multigrid needs PETSc with hypre, which this PETSc lacks"):
        DiffusionSolver(3, "triangle", boundary, solver="multigrid")


def test_petsc_objects_are_destroyed_with_the_solver() -> None:
    system = DiffusionSolver(4, "quadrilateral", boundary)
    linear = system._system
    objects = [linear._matrix, linear._ksp, linear._load, linear._solution]
    assert all(objects)
    del system, linear
    assert not any(objects)


def test_making_many_solvers_does_not_grow_the_process() -> None:
    def resident_pages() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1])

    def make(count: int) -> None:
        for _ in range(count):
            solver = DiffusionSolver(40, "quadrilateral", boundary)
            solver.factorise(np.ones(1600))
            solver.forward()

    make(5)
    before = resident_pages()
    make(20)
    # The matrix (121 kB), its factor (more) and the vectors of one solver are over 300 kB; 20 leaked are 6 MB.
    assert (resident_pages() - before) * 4096 < 3_000_000


@pytest.mark.parametrize(
    ("cells", "cell_type", "message"),
    [(0, "triangle", "cells must be at least 1, got 0"), (3, "hexagon", "cell_type must be one of .*, got 'hexagon'")],
)
def test_wrong_settings_are_named(cells: int, cell_type: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiffusionSolver(cells, cell_type, boundary)
