"""The elliptic problem by full Jacobians: the same posterior, at the cost of the published implementation."""

from collections import Counter

import numpy as np
import pytest

from rnshmc.random import stream
from rnshmc.types import Array

dolfinx = pytest.importorskip("dolfinx")

from rnshmc.fem.diffusion import DiffusionSolver  # noqa: E402
from rnshmc.fem.linear_system import LinearSystem  # noqa: E402
from rnshmc.targets.elliptic import EllipticInverseProblem, boundary_pressure  # noqa: E402
from rnshmc.targets.elliptic_full_jacobian import FullJacobianProblem  # noqa: E402
from rnshmc.targets.elliptic_settings import EllipticSettings  # noqa: E402

DIM = 4
POINTS = np.array([[0.2, 0.3], [0.5, 0.5], [0.9, 0.4], [0.4, 0.8], [0.7, 0.7]])
PAIRS = DIM * (DIM + 1) // 2


def problem(kind: type[EllipticInverseProblem]) -> EllipticInverseProblem:
    noise = 0.1 * stream(1, "full jacobian", "noise").standard_normal(len(POINTS))
    settings = EllipticSettings(cells=8, cell_type="triangle", modes=DIM)
    return kind(POINTS, boundary_pressure(*POINTS.T) + noise, settings=settings)


def position(name: str) -> Array:
    return np.asarray(0.5 * stream(1, "full jacobian", name).standard_normal(DIM))


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Numbers of solves, and of assemblies, each factorised at the next solve."""
    counted: Counter[str] = Counter()
    solve, assemble = DiffusionSolver.solve, LinearSystem.assemble

    def counting(self: DiffusionSolver, load: Array) -> Array:
        counted["solves"] += 1
        return solve(self, load)

    def assembling(self: LinearSystem) -> None:
        counted["assemblies"] += 1
        assemble(self)

    monkeypatch.setattr(DiffusionSolver, "solve", counting)
    monkeypatch.setattr(LinearSystem, "assemble", assembling)
    return counted


@pytest.mark.parametrize("name", ["value", "gradient", "metric"])
def test_it_is_the_posterior_of_the_lean_problem(name: str) -> None:
    q = position("same")
    ours, lean = (getattr(problem(kind), name)(q) for kind in (FullJacobianProblem, EllipticInverseProblem))
    # Rounding of some tens of solves with a condition number of about 100.
    np.testing.assert_allclose(ours, lean, rtol=0, atol=1e-11 * np.abs(lean).max())


@pytest.mark.parametrize("rank", [1, 4])
def test_second_derivatives_contract_to_the_lean_slope_of_the_metric(rank: int) -> None:
    q, factor = position("same"), stream(1, "full jacobian", "factor").standard_normal((DIM, rank))
    ours, lean = (problem(kind).metric_vjp(q, factor) for kind in (FullJacobianProblem, EllipticInverseProblem))
    np.testing.assert_allclose(ours, lean, rtol=0, atol=1e-11 * np.abs(lean).max())


@pytest.mark.parametrize(("name", "evaluations"), [("value", 1), ("gradient", 1), ("value_and_grad", 2)])
def test_every_evaluation_solves_for_the_whole_jacobian(name: str, evaluations: int, solves: Counter[str]) -> None:
    """Also at a position where it was evaluated before."""
    target, q = problem(FullJacobianProblem), position("price")
    for call in (1, 2):
        getattr(target, name)(q)
        assert solves["solves"] == call * evaluations * (1 + DIM)
        assert solves["assemblies"] == call * evaluations


def test_a_geometry_is_one_evaluation_and_the_second_derivatives(solves: Counter[str]) -> None:
    target, q, factor = problem(FullJacobianProblem), position("price"), np.eye(DIM)
    target.metric(q)
    assert solves["solves"] == 1 + DIM
    target.gradient(q)
    for _ in range(3):
        target.metric_vjp(q, factor)
    assert (solves["solves"], solves["assemblies"]) == (1 + DIM + PAIRS, 1)
    target.metric(q)
    assert solves["solves"] == 2 * (1 + DIM) + PAIRS
