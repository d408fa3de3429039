import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from scipy.optimize import minimize

from rnshmc.datasets.receipt import Receipt
from rnshmc.errors import DataError, ParameterError, RnshmcError
from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound

dolfinx = pytest.importorskip("dolfinx")

from mpi4py import MPI  # noqa: E402

from rnshmc.targets.elliptic import EllipticForwardModel, EllipticInverseProblem  # noqa: E402
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


def receipt(folder: Path, observations: Array | None) -> str:
    """The file of a receipt for published observations, or for none that could be fetched."""
    path = folder / "published.mat"
    savemat(path, {"y": np.zeros(1) if observations is None else observations[:, np.newaxis], "more": np.ones(3)})
    real = observations is not None
    name, digest = (path.name, sha256(path)) if real else (None, None)
    Receipt("published", "real" if real else "stand-in", name, digest, "a test").save(folder / "published.json")
    return str(folder / "published.json")


def test_published_observations_are_taken_in_the_order_of_the_points(tmp_path: Path) -> None:
    published = np.arange(49.0) / 7
    data = run(sensors=7, published=receipt(tmp_path, published))
    assert data.origin == "published"
    np.testing.assert_array_equal(data.observations, published)
    # The second coordinate runs faster.
    np.testing.assert_allclose(data.points[7 * 2 + 3], (2 / 6, 3 / 6), rtol=1e-15)
    assert np.isnan(data.theta_true).all()


def test_where_they_cannot_be_fetched_observations_are_simulated_and_say_so(tmp_path: Path) -> None:
    data, simulated = run(sensors=7, published=receipt(tmp_path, None)), run(sensors=7)
    assert data.origin == "simulated"
    np.testing.assert_array_equal(data.observations, simulated.observations)


def test_published_observations_of_another_number_of_sensors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="sensors is 6, but there are 49 published observations"):
        run(sensors=6, published=receipt(tmp_path, np.zeros(49)))


@pytest.mark.skipif("RNSHMC_DATA_MIRROR" not in os.environ, reason="RNSHMC_DATA_MIRROR is not set")
def test_the_published_observations_are_likely_under_the_model(tmp_path: Path) -> None:
    """Residuals at the mode have the standard deviation of the noise; if they are shifted, they do not."""
    path = Path(shutil.copy(Path(os.environ["RNSHMC_DATA_MIRROR"]) / "ePDE.mat", tmp_path))
    Receipt("pde-observations", "real", path.name, sha256(path), "a test").save(tmp_path / "receipt.json")
    settings = ForwardSettings(1, members=1, published=str(tmp_path / "receipt.json"))
    data = run_forward_model(MPI.COMM_SELF, settings)
    assert data is not None
    orders = {"published": data.observations, "shifted": np.roll(data.observations, 1)}
    spread = {}
    for order, observations in orders.items():
        problem = EllipticInverseProblem(data.points, observations, noise_sd=0.1, prior_sd=0.5, settings=settings.model)
        mode = minimize(problem.value_and_grad, np.zeros(20), jac=True).x
        spread[order] = float(np.std(EllipticForwardModel(data.points, settings.model).predict(mode) - observations))
    # Less than 0.1, for up to 20 parameters follow the noise of 121 observations; its own error is 0.1 / sqrt(242).
    assert 0.1 * np.sqrt(1 - 20 / 121) - z_bound() * 0.1 / np.sqrt(242) < spread["published"]
    assert spread["published"] < 0.1 + z_bound() * 0.1 / np.sqrt(242)
    assert spread["shifted"] > 0.1 + z_bound() * 0.1 / np.sqrt(242)


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
