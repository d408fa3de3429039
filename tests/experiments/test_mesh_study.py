"""The mesh study: convergence of solutions, units of seconds, and gains."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.types import Array

pytest.importorskip("dolfinx")

from mpi4py import MPI

from rnshmc.experiments.mesh_study import (
    MeshRun,
    Solutions,
    Solved,
    mesh_table,
    run_on_mesh,
    uniform_pressure,
)
from rnshmc.experiments.scaling import COLUMNS
from rnshmc.targets.forward_data import ForwardData

MODES = 3
DYNAMICS = {"step_size": 0.2, "n_steps": [1, 10]}
POINTS = np.array([[0.2, 0.3], [0.5, 0.5], [0.9, 0.4], [0.4, 0.8], [0.7, 1.0]])
STATES: Array = 0.5 * stream(1, "mesh study", "states").standard_normal((3, MODES))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    nothing = np.full((1, len(POINTS)), np.nan)
    ForwardData(
        points=POINTS,
        observations=POINTS[:, 0],
        observations_clean=nothing[0],
        theta_true=nothing[0],
        prior_theta=nothing,
        prior_predictive=nothing,
        noise_sd=0.1,
        prior_sd=0.5,
        origin="user",
    ).save(tmp_path / "pde.npz")
    return tmp_path / "pde.npz"


def study(data: Path, cells: int, solver: str, *, work: int = 400) -> tuple[Solutions, pd.DataFrame]:
    rng = stream(1, "mesh study", "surrogate")
    q = 0.5 * rng.standard_normal((60, MODES))
    surrogate = RandomNetwork.fit(q, 0.5 * np.sum(q**2, axis=1), rng=rng, hidden_units=30, ridge=1e-6)
    run = MeshRun(
        seed=1,
        model={"cells": cells, "modes": MODES, "solver": solver},
        samplers={"hmc": DYNAMICS, "rns_hmc": DYNAMICS},
        repeats=2,
        work=work,
    )
    return run_on_mesh(MPI.COMM_SELF, data, surrogate, STATES, run)


def test_uniform_pressure_has_the_given_boundary_values_and_symmetry() -> None:
    x1, x2 = stream(1, "mesh study", "points").random((2, 30))
    x2 = 0.1 + 0.8 * x2
    pressure = uniform_pressure(np.column_stack([x1, x2]))
    # Turned by half a turn the problem is itself; upside down it is one minus itself.
    assert_allclose(uniform_pressure(np.column_stack([1 - x1, 1 - x2])), pressure, atol=1e-12)
    assert_allclose(uniform_pressure(np.column_stack([x1, 1 - x2])), 1 - pressure, atol=1e-12)
    assert_allclose(uniform_pressure(np.array([[0.3, 0.0], [0.3, 1.0]])), [0.3, 0.7])


def test_seconds_are_of_as_many_evaluations_as_the_mesh_leaves_time_for(data: Path) -> None:
    _, seconds = study(data, 4, "direct", work=170)
    assert list(seconds.columns) == list(COLUMNS)
    sizes = seconds.groupby("what", sort=False)["size"].unique().map(list).to_dict()
    assert sizes == {"value": [10], "value_and_grad": [10], "hmc": [2], "rns_hmc": [2]}
    assert (seconds.groupby("what").size() == 2).all()
    assert (seconds["seconds"] > 0).all()
    assert (study(data, 20, "direct", work=170)[1]["size"] == 1).all()


def test_errors_fall_with_order_two_and_solvers_agree(data: Path) -> None:
    points = [Solved(cells, solver, 1) for solver, cells in itertools.product(("direct", "multigrid"), (10, 20, 40))]
    found = {point: study(data, point.cells, point.solver) for point in points}
    table = mesh_table(
        {point: solutions for point, (solutions, _) in found.items()},
        {point: seconds for point, (_, seconds) in found.items()},
        {"hmc": 0.5, "rns_hmc": 0.2},
    )
    assert len(table) == 6
    for _, rows in table.groupby("solver"):
        assert rows["cells"].tolist() == [10, 20, 40]
        assert rows["nodes"].tolist() == [121, 441, 1681]
        # Observations lie between nodes too, where the error also depends on the place in the cell.
        assert_allclose(rows["error_uniform_order"].iloc[1:], 2.0, atol=0.5)
        assert np.isnan(rows["error_uniform_order"].iloc[0])
        assert rows["error"].iloc[0] > 2 * rows["error"].iloc[1]
        assert np.isnan(rows["error"].iloc[2])
        assert rows["potential_shift"].iloc[0] == pytest.approx(0.0, abs=1e-9)
        assert 0.0 < rows["potential_shift"].iloc[1] < 1.0
    direct, multigrid = (found[Solved(20, solver, 1)][0] for solver in ("direct", "multigrid"))
    assert_allclose(multigrid.pressure, direct.pressure, atol=1e-11)


def test_the_gain_is_that_in_samples_times_that_in_seconds() -> None:
    def seconds(hmc: float, rns_hmc: float) -> pd.DataFrame:
        of = {"value": 1.0, "value_and_grad": 2.0, "hmc": hmc, "rns_hmc": rns_hmc}
        rows = [(what, 4, "", 1, k, 4 * s * k, 0.0, False, 1.0) for what, s in of.items() for k in (1, 2, 3)]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    solutions = Solutions(POINTS, np.zeros((1, 5)), np.zeros((3, 5)), np.zeros((3, 1)))
    point = Solved(10, "direct", 1)
    row = mesh_table({point: solutions}, {point: seconds(12.0, 3.0)}, {"hmc": 0.9, "rns_hmc": 0.3}).iloc[0]
    # The median repeat took twice as long as the first.
    assert (row["value_s"], row["value_and_grad_s"]) == (2.0, 4.0)
    assert (row["hmc_s_per_iter"], row["rns_hmc_s_per_iter"]) == (24.0, 6.0)
    assert row["gain"] == pytest.approx((0.3 / 6.0) / (0.9 / 24.0))
    assert not row["loaded"]
