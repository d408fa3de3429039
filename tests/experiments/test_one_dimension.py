"""Surrogates of a parabola: nested observations, averages over fits, errors against the truth."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.io import loadmat

from rnshmc.errors import ParameterError
from rnshmc.experiments.one_dimension import GRID, fit_curves, observe, one_dimension, parabola, region_errors
from rnshmc.random import stream
from tests.conftest import z_bound

NETWORK = {"hidden_units": 5, "ridge": 1e-6}


def test_observations_scatter_around_the_parabola() -> None:
    x, y = observe(stream(1, "observations"), count=4000, noise_sd=0.3)
    noise = y - x**2 / 2
    # Standard errors of a mean and of a standard deviation of 4000 normal numbers.
    assert abs(noise.mean()) < z_bound(3) * 0.3 / np.sqrt(4000)
    assert abs(noise.std() - 0.3) < z_bound(3) * 0.3 / np.sqrt(8000)
    assert abs(x.std() - 1.0) < z_bound(3) / np.sqrt(8000)


def test_data_sets_are_nested() -> None:
    found = one_dimension(seed=1, sizes=[4, 9], noise_sd=0.1, fits=1, repeats=1, surrogates={"rns_hmc": NETWORK})
    assert found.points["n"].tolist() == [4] * 4 + [9] * 5
    x, _ = observe(stream(1, "fig1", "repeat1"), count=9, noise_sd=0.1)
    assert_allclose(found.points["x"], x)


def test_published_observations_are_the_first_set_and_the_others_stay_what_they_are() -> None:
    settings: dict[str, Any] = {"seed": 1, "sizes": [4, 9], "noise_sd": 0.1, "fits": 1, "repeats": 3}
    settings["surrogates"] = {"rns_hmc": NETWORK}
    x = np.linspace(-1.0, 1.0, 12)
    given, ours = one_dimension(**settings, published=(x, parabola(x))), one_dimension(**settings)
    assert_allclose(given.points["x"], x[:9])
    assert_allclose(given.points["y"], parabola(x[:9]))
    assert set(given.points["data"]) == set(given.curves["data"]) == {"published"}
    assert given.errors.groupby("repeat")["data"].unique().map(list).tolist() == [["published"]] + 2 * [["simulated"]]
    later, same = (table.query("repeat > 1") for table in (given.errors, ours.errors))
    pd.testing.assert_frame_equal(later, same)
    assert set(ours.points["data"]) == {"simulated"}
    with pytest.raises(ParameterError, match="sizes: 9 is more than the 3 published observations"):
        one_dimension(**settings, published=(x[:3], x[:3]))


@pytest.mark.skipif("RNSHMC_DATA_MIRROR" not in os.environ, reason="RNSHMC_DATA_MIRROR is not set")
def test_smaller_published_sets_are_the_beginning_of_the_largest() -> None:
    largest = loadmat(Path(os.environ["RNSHMC_DATA_MIRROR"]) / "dataN40.mat")
    for n in (10, 20):
        smaller = loadmat(Path(os.environ["RNSHMC_DATA_MIRROR"]) / f"dataN{n}.mat")
        for name in ("X", "Y"):
            np.testing.assert_array_equal(smaller[name], largest[name][:n])


def test_a_constant_in_the_potential_is_found_again() -> None:
    x, y = observe(stream(2, "observations"), count=40, noise_sd=0.1)
    low, high = (
        fit_curves("rns_hmc", x, level, settings=NETWORK, streams=[stream(2, "fit")]) for level in (y, y + 50.0)
    )
    assert_allclose(high - low, 50.0, atol=1e-6)


def test_fits_follow_the_truth_where_there_are_observations() -> None:
    x, y = observe(stream(3, "observations"), count=200, noise_sd=0.0)
    curve = fit_curves("rns_hmc", x, y, settings={"hidden_units": 60, "ridge": 1e-9}, streams=[stream(3, "fit")])[0]
    inside = np.abs(GRID) < 2
    assert np.abs(curve - parabola(GRID))[inside].max() < 1e-3


def test_curves_are_averages_of_the_fits() -> None:
    found = one_dimension(seed=4, sizes=[10], noise_sd=0.1, fits=3, repeats=2, surrogates={"rns_hmc": NETWORK})
    x, y = observe(stream(4, "fig1", "repeat1"), count=10, noise_sd=0.1)
    streams = [stream(4, "fig1", "rns_hmc", "n10", "repeat1", f"fit{k}") for k in (1, 2, 3)]
    fits = fit_curves("rns_hmc", x, y, settings=NETWORK, streams=streams)
    assert_allclose(found.curves["mean"], fits.mean(axis=0))
    assert_allclose(found.curves["low"], np.quantile(fits, 0.1, axis=0))
    assert (found.curves["fits"] == 3).all()
    assert found.errors["repeat"].unique().tolist() == [1, 2]


def test_a_surrogate_without_chance_is_fitted_once() -> None:
    settings = {"max_evaluations": 20}
    found = one_dimension(seed=5, sizes=[10], noise_sd=0.1, fits=4, repeats=1, surrogates={"gp_hmc": settings})
    assert (found.curves["fits"] == 1).all()
    assert_allclose(found.curves["sd"], 0.0)


def test_errors_of_the_average_and_of_one_fit() -> None:
    predictions = parabola(GRID) + np.array([[0.5], [-0.5]])
    errors = region_errors(predictions).set_index("region")
    assert_allclose(errors["rmse_average"], 0.0, atol=1e-12)
    assert_allclose(errors["rmse_single"], 0.5)


def test_errors_are_taken_over_their_region_only() -> None:
    predictions = parabola(GRID) + np.where(np.abs(GRID) > 2.01, 3.0, 0.0)
    errors = region_errors(predictions[np.newaxis]).set_index("region")["rmse_average"]
    share = np.mean(np.abs(GRID) > 2.01)
    assert_allclose(errors["near"], 0.0, atol=1e-12)
    assert_allclose(errors["all"], 3.0 * np.sqrt(share))
    assert errors["far"] > errors["all"]


def test_softplus_captures_the_far_field_better_than_a_gaussian_process() -> None:
    surrogates: dict[str, dict[str, Any]] = {"rns_hmc": NETWORK, "gp_hmc": {"max_evaluations": 50}}
    found = one_dimension(seed=6, sizes=[10], noise_sd=0.1, fits=20, repeats=40, surrogates=surrogates)
    far = found.errors[found.errors["region"] == "far"]
    errors: pd.DataFrame = far.pivot_table(index="repeat", columns="method", values="rmse_average")
    # Of 120 sets of observations 110 favoured the network. At this rate half of 40 or fewer do with probability 1e-12.
    assert (errors["rns_hmc"] < errors["gp_hmc"]).sum() > 20
    assert errors["rns_hmc"].median() < errors["gp_hmc"].median()
