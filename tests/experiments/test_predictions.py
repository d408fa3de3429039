"""Predictions of a Gaussian process regression, averaged over its hyperparameters."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from rnshmc.experiments.predictions import MAX_DRAWS, predictions
from rnshmc.random import stream
from rnshmc.targets.gp_regression import GPRegression

RNG = stream(4, "predictions")
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=40)
TARGET = GPRegression(X, Y, prior_sd=3.0)
Q = np.array([0.7, -3.0])


def test_one_draw_predicts_as_the_textbook_does() -> None:
    table = predictions(TARGET, {"hmc": Q[np.newaxis]}, inputs=3)
    length, noise = np.exp(Q)
    other = GaussianProcessRegressor(Matern(length, nu=1.5) + WhiteKernel(noise), alpha=0.0, optimizer=None).fit(X, Y)
    points = np.column_stack([table["x"], np.zeros((len(table), 2))])
    mean, covariance = other.predict(points, return_cov=True)
    # scikit-learn predicts observations: the noise is not the process's.
    half = norm.ppf(0.95) * np.sqrt(np.diagonal(covariance) - noise)
    assert_allclose(table["mean"], mean, atol=1e-9)
    assert_allclose(table["high"] - table["mean"], half, rtol=1e-6)
    assert_allclose(table["mean"] - table["low"], half, rtol=1e-6)


def test_two_draws_make_a_mixture() -> None:
    other = np.array([-1.0, 0.0])
    tables = [predictions(TARGET, {"hmc": np.array(draws)}, inputs=3) for draws in ([Q], [other], [Q, other])]
    means = [table["mean"] for table in tables]
    variances = [((table["high"] - table["mean"]) / norm.ppf(0.95)) ** 2 for table in tables]
    assert_allclose(means[2], (means[0] + means[1]) / 2, atol=1e-12)
    assert_allclose(variances[2], (variances[0] + variances[1]) / 2 + (means[0] - means[1]) ** 2 / 4, rtol=1e-9)


def test_the_distance_from_hmc_is_in_half_widths_of_its_band() -> None:
    table = predictions(TARGET, {"hmc": Q[np.newaxis], "nng_hmc": Q[np.newaxis] + 0.3}, inputs=3)
    hmc, other = (table[table["sampler"] == name].set_index("x") for name in ("hmc", "nng_hmc"))
    furthest = np.max(2 * (other["mean"] - hmc["mean"]).abs() / (hmc["high"] - hmc["low"]))
    assert set(hmc["from_hmc"]) == {0.0}
    assert_allclose(other["from_hmc"], furthest)


def test_at_most_so_many_draws_are_used_evenly() -> None:
    draws = Q + 0.1 * RNG.normal(size=(3 * MAX_DRAWS, 2))
    many = predictions(TARGET, {"hmc": draws, "nng_hmc": draws[::3]}, inputs=3)
    all_of_them, every_third = (
        many[many["sampler"] == sampler].drop(columns="sampler").to_numpy() for sampler in ("hmc", "nng_hmc")
    )
    assert_allclose(all_of_them, every_third)
