"""Solves and chains on several ranks equal those on one rank."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rnshmc.types import Array

dolfinx = pytest.importorskip("dolfinx")

from rnshmc.fem.linear_system import MULTIGRID_TOLERANCE, SOLVERS  # noqa: E402

Results = dict[int, dict[str, Array]]
QUANTITIES = ("value", "gradient", "metric", "metric_vjp", "hmc", "rmhmc")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, on_ranks: Callable[..., None]) -> Results:
    """Results of one rank and of two."""
    folder, found = tmp_path_factory.mktemp("diffusion"), {}
    for ranks in (1, 2):
        file = folder / f"ranks{ranks}.npz"
        on_ranks(ranks, Path(__file__).with_name("diffusion_program.py"), str(file))
        with np.load(file) as arrays:
            found[ranks] = dict(arrays)
    return found


def relative_difference(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max() / np.abs(one).max())


def test_the_ranks_were_as_many_as_asked_for(results: Results) -> None:
    assert {ranks: int(found["ranks"]) for ranks, found in results.items()} == {1: 1, 2: 2}


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cell_type", ["quadrilateral", "triangle"])
def test_two_ranks_give_what_one_gives(results: Results, cell_type: str, solver: str, quantity: str) -> None:
    name = f"{cell_type}/{solver}/{quantity}"
    assert relative_difference(results[1][name], results[2][name]) < 1e-10


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("cell_type", ["quadrilateral", "triangle"])
def test_multigrid_gives_what_the_factorisation_gives(results: Results, cell_type: str, quantity: str) -> None:
    direct, multigrid = (results[2][f"{cell_type}/{solver}/{quantity}"] for solver in ("direct", "multigrid"))
    # A solution has the relative error of its residual times the condition of the preconditioned system, which is near
    # one; derivatives cancel to a hundredth of their terms.
    assert relative_difference(direct, multigrid) < 1e3 * MULTIGRID_TOLERANCE
