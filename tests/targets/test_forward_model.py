import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import DataError, ParameterError, RnshmcError
from rnshmc.random import stream

dolfinx = pytest.importorskip("dolfinx")

from mpi4py import MPI  # noqa: E402

from rnshmc.targets.elliptic import EllipticForwardModel  # noqa: E402
from rnshmc.targets.elliptic_settings import EllipticSettings, ForwardSettings, from_mapping  # noqa: E402
from rnshmc.targets.forward_data import ForwardData  # noqa: E402
from rnshmc.targets.forward_model import run_forward_model  # noqa: E402

SCRIPT = Path(__file__).parents[2] / "workflow/scripts/forward_model.py"
MODEL = EllipticSettings(cells=6, modes=5)


def run(**changes: Any) -> ForwardData:
    data = run_forward_model(MPI.COMM_SELF, ForwardSettings(**{"seed": 1, "members": 5, "model": MODEL, **changes}))
    assert data is not None
    return data


@pytest.fixture
def forward_model(launch: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """``forward_model(2, spec, output)`` runs the script under MPI to its end, good or bad."""

    def forward_model(ranks: int, spec: dict[str, Any], output: Path) -> subprocess.CompletedProcess[str]:
        return launch(ranks, SCRIPT, "--spec", json.dumps(spec), "--output", output)

    return forward_model


def test_simulated_observations_are_the_model_at_the_truth_plus_noise() -> None:
    data = run(sensors=7, noise_sd=0.2)
    assert data.origin == "simulated"
    assert data.points.shape == (49, 2)
    np.testing.assert_array_equal(np.unique(data.points), np.linspace(0.0, 1.0, 7))
    model = EllipticForwardModel(data.points, MODEL)
    np.testing.assert_array_equal(data.theta_true, 0.5 * stream(1, "pde", "truth").standard_normal(5))
    np.testing.assert_array_equal(data.observations_clean, model.predict(data.theta_true))
    noise = (data.observations - data.observations_clean) / 0.2
    np.testing.assert_allclose(noise, stream(1, "pde", "noise").standard_normal(49), rtol=0, atol=1e-14)


def test_each_member_of_the_ensemble_is_the_model_at_its_own_draw() -> None:
    data = run()
    model = EllipticForwardModel(data.points, MODEL)
    for member, (theta, predictive) in enumerate(zip(data.prior_theta, data.prior_predictive, strict=True)):
        np.testing.assert_array_equal(theta, 0.5 * stream(1, "pde", "prior", str(member)).standard_normal(5))
        np.testing.assert_array_equal(predictive, model.predict(theta))


def test_a_larger_ensemble_begins_with_the_smaller_one() -> None:
    np.testing.assert_array_equal(run(members=5).prior_predictive, run(members=8).prior_predictive[:5])


def test_observations_of_a_user_replace_the_simulated_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("x1,x2,u\n0.5,0.5,0.4\n0.1,0.9,0.8\n", encoding="utf-8")
    data = run(observations=str(path))
    assert data.origin == "user"
    np.testing.assert_array_equal(data.observations, [0.4, 0.8])
    assert data.prior_predictive.shape == (5, 2)
    assert np.isnan(data.theta_true).all()
    assert np.isnan(data.observations_clean).all()


def test_bad_observations_of_a_user_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("x1,x2,u\n0.5,2,0.4\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.csv: row 2, column 'x2'"):
        run(observations=str(path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": 1, "members": 0}, "members must be an integer of at least 1, got 0"),
        ({"seed": 1, "sensors": 1}, "sensors must be an integer of at least 2, got 1"),
        ({"seed": 1, "noise_sd": 0.0}, "noise_sd must be a positive number, got 0.0"),
        ({"seed": 1, "prior_sd": float("inf")}, "prior_sd must be a positive number, got inf"),
        ({"seed": 1, "noise": 0.1}, "noise: no such setting; there are seed, problem, members"),
        ({"members": 3}, "seed: this setting is missing"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        from_mapping(ForwardSettings, settings)


class FailedElsewhere:
    """A communicator of two ranks seen from rank 0, when rank 1 has failed."""

    rank, size = 0, 2

    def allgather(self, message: str | None) -> list[str | None]:
        return [message, "a solve failed there"]


def test_a_failure_on_another_rank_ends_this_one() -> None:
    with pytest.raises(RnshmcError, match="rank 1: a solve failed there"):
        run_forward_model(FailedElsewhere(), ForwardSettings(seed=1, members=2, model=MODEL))


def test_results_are_the_same_bytes_for_one_rank_and_for_two(tmp_path: Path, forward_model: Callable[..., Any]) -> None:
    spec = {"seed": 3, "members": 5, "model": {"cells": 6, "modes": 5}}
    for ranks in (1, 2):
        outcome = forward_model(ranks, spec, tmp_path / f"ranks{ranks}.npz")
        assert outcome.returncode == 0, outcome.stderr
    assert (tmp_path / "ranks1.npz").read_bytes() == (tmp_path / "ranks2.npz").read_bytes()
    np.testing.assert_array_equal(ForwardData.load(tmp_path / "ranks2.npz").prior_theta, run(seed=3).prior_theta)


def test_launched_with_a_wrong_setting_it_says_so_and_leaves_no_file(
    tmp_path: Path, forward_model: Callable[..., Any]
) -> None:
    outcome = forward_model(2, {"seed": 3, "model": {"modes": 0}}, tmp_path / "pde.npz")
    assert outcome.returncode != 0
    assert "modes must be an integer of at least 1, got 0" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert list(tmp_path.iterdir()) == []
