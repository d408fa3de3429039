"""Likelihoods at the edges of possible outputs and data."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import log_ndtr, stdtr

from rnshmc.inference.exact.likelihoods.distributions import log_student_cdf
from rnshmc.inference.exact.likelihoods.named import (
    Binomial,
    Gaussian,
    LogNormal,
    NegativeBinomial,
    Poisson,
    Relative,
    StudentT,
)
from rnshmc.types import Array

EPS = float(np.finfo(np.float64).eps)


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(2.0)])
def test_a_mean_of_zero_counts_as_the_floor(likelihood: Poisson | NegativeBinomial) -> None:
    observed = likelihood.observing({"": np.array([0.0, 7.0, 3.0])})
    outputs = np.array([[0.0, 7.0, 3.0], [-5e-6, 7.0, 3.0], [1e-9, 7.0, 3.0]])
    predictors = observed.predictors(outputs)
    np.testing.assert_allclose(predictors[:, 0], np.log(1e-8), rtol=EPS)
    values, slopes, _ = observed.potential(predictors, np.empty((3, 0)))
    without = likelihood.observing({"": np.array([np.nan, 7.0, 3.0])})
    others = without.potential(without.predictors(outputs), np.empty((3, 0)))[0]
    np.testing.assert_allclose(values - others, 1e-8, atol=100 * EPS)
    assert np.isfinite(slopes).all()
    np.testing.assert_array_equal(observed.jacobian(outputs[0], np.ones((3, 1)))[:, 0], [0.0, 1 / 7.0, 1 / 3.0])
    np.testing.assert_array_equal(observed.pulled_back(outputs[0], np.ones(3)), [0.0, 1 / 7.0, 1 / 3.0])


def test_a_mean_of_zero_with_a_count_is_a_finite_misfit() -> None:
    observed = Poisson().observing({"": np.array([4.0])})
    value = observed.potential(observed.predictors(np.zeros((1, 1))), np.empty((1, 0)))[0]
    assert value[0] == pytest.approx(-4 * np.log(1e-8) + np.log(24.0))


@pytest.mark.parametrize(
    ("likelihood", "datum", "output"),
    [
        (Poisson(), 7.0, -1e-5),
        (NegativeBinomial(2.0), 7.0, -1e-5),
        (LogNormal(0.1), 7.0, -1e-5),
        (Relative(0.1), 7.0, -1e-5),
        (Relative(0.1), -7.0, 1e-5),
        (Binomial(9), 7.0, -1e-5),
        (Binomial(9), 7.0, 1.00001),
        (Gaussian(0.1), 7.0, np.nan),
        (Gaussian(covariance=np.eye(2)), 7.0, np.nan),
    ],
)
def test_an_impossible_output_is_a_failed_run(likelihood: Gaussian, datum: float, output: float) -> None:
    observed = likelihood.observing({"": np.array([datum, np.sign(datum)])})
    good = np.full((1, 2), 0.5 * np.sign(datum))
    bad = good.copy()
    bad[0, 0] = output
    assert np.isnan(observed.predictors(bad)[0, 0])
    assert observed.potential(observed.predictors(bad), np.empty((1, 0)))[0][0] == np.inf
    assert np.isfinite(observed.potential(observed.predictors(good), np.empty((1, 0)))[0][0])


def test_a_whitened_row_that_is_not_finite_leaves_the_others() -> None:
    observed = Gaussian(covariance=np.eye(2) + 1.0).observing({"": np.zeros(2)})
    predictors = observed.predictors(np.array([[1.0, np.nan], [1.0, 2.0]]))
    np.testing.assert_array_equal(np.isnan(predictors).all(axis=1), [True, False])
    assert np.isnan(observed.predictors(np.full((1, 2), np.inf))).all()


def test_probabilities_of_zero_and_one_count_as_the_floor() -> None:
    observed = Binomial(5).observing({"": np.array([0.0, 5.0])})
    outputs = np.array([[0.0, 1.0], [-1e-7, 1.0 + 1e-7]])
    values = observed.potential(observed.predictors(outputs), np.empty((2, 0)))[0]
    # log1p(-1e-8) of 5 trials, twice; 1 - 1e-8 is rounded.
    np.testing.assert_allclose(values, 10 * 1e-8, atol=100 * EPS)
    np.testing.assert_array_equal(observed.jacobian(outputs[0], np.ones((2, 1))), np.zeros((2, 1)))


@pytest.mark.parametrize("likelihood", [LogNormal(0.1), Relative(0.1)])
def test_an_output_of_zero_is_a_finite_misfit(likelihood: LogNormal | Relative) -> None:
    observed = likelihood.observing({"": np.array([2.0, 300.0])})
    outputs = np.array([[0.0, 300.0], [-1e-4, 300.0]])
    predictors = observed.predictors(outputs)
    np.testing.assert_allclose(predictors[:, 0], np.log(2e-8), rtol=10 * EPS)
    assert np.isfinite(observed.potential(predictors, np.empty((2, 0)))[0]).all()


def test_a_large_dispersion_is_poisson() -> None:
    data, means = {"": np.array([0.0, 3.0, 900.0])}, np.array([[0.5, 4.0, 850.0], [1.0, 2.0, 1000.0]])
    negative, poisson = NegativeBinomial("phi").observing(data), Poisson().observing(data)
    own = np.full((2, 1), 1e12)
    values, slopes, by_phi = negative.potential(negative.predictors(means), own)
    exact, exact_slopes, _ = poisson.potential(poisson.predictors(means), own[:, :0])
    # The difference is of the size of mean^2 / phi; log(phi), of which both have y, is rounded.
    atol = 1e6 / 1e12 + 1e3 * EPS * 900 * np.log(1e12)
    np.testing.assert_allclose(values, exact, rtol=0, atol=atol)
    np.testing.assert_allclose(slopes, exact_slopes, atol=atol)
    assert np.abs(by_phi * 1e12).max() < 1.0


@pytest.mark.parametrize("df", [1.0, 2.0])
@pytest.mark.parametrize("z", [-1e60, -1e120])
def test_the_far_tail_of_student_has_its_closed_form(df: float, z: float) -> None:
    exact = -np.log(np.pi) - np.log(-z) if df == 1.0 else -2.0 * np.log(-z) - np.log(2.0)
    found = log_student_cdf(np.array([z]), np.array([df]))
    assert found[0] == pytest.approx(exact, rel=100 * EPS)


@pytest.mark.parametrize(("df", "z"), [(30.0, -2e6), (200.0, -42.0), (1e4, -25.0), (1e6, -30.0)])
def test_the_far_tail_of_student_continues_the_near_one(df: float, z: float) -> None:
    near = float(stdtr(df, z))
    assert 0.0 < near < 1e-100
    assert log_student_cdf(np.array([z]), np.array([df]))[0] == pytest.approx(np.log(near), rel=1e-9)


@pytest.mark.parametrize(("df", "z"), [(3.0, -2.0), (60.0, -1e10), (1e5, -60.0)])
def test_the_slope_of_a_tail_is_density_over_probability(
    df: float, z: float, assert_slope: Callable[..., None]
) -> None:
    observed = StudentT(df, 1.0, censored="left").observing({"": np.zeros(1)})
    # The true value lies below 0 and is predicted to be far above it.
    predictors = np.array([[-z]])
    _, slopes, _ = observed.potential(predictors, np.empty((1, 0)))

    def value(f: Array) -> float:
        return float(observed.potential(f[None], np.empty((1, 0)))[0][0])

    assert_slope(value, float(slopes[0, 0] * 0.05 * z), predictors[0], np.array([0.05 * z]), relative_error=1e-13)


@pytest.mark.parametrize("side", ["left", "right"])
def test_distant_limits_are_finite_and_satisfied_ones_are_zero(side: str) -> None:
    observed = Gaussian("s", censored=side).observing({"": np.zeros(1)})
    sign = {"left": 1.0, "right": -1.0}[side]
    predictors, own = sign * np.array([[1e5], [-1e5]]), np.ones((2, 1))
    values, slopes, own_slopes = observed.potential(predictors, own)
    np.testing.assert_allclose(values, [-float(log_ndtr(-1e5)), 0.0], rtol=10 * EPS)
    np.testing.assert_allclose(slopes[:, 0], [sign * 1e5, 0.0], rtol=1e-9)
    np.testing.assert_allclose(own_slopes[:, 0], [-1e10, 0.0], rtol=1e-9)
    assert (observed.curvatures(predictors, own) > 0).all()


def test_flags_are_words_or_numbers() -> None:
    rows, own = np.array([[0.3, 0.2, 0.1]]), np.empty((1, 0))
    data = {"": np.array([0.1, 0.5, 0.9])}
    flags: list[object] = [
        ["left", "right", 0],
        [-1, 1, 0],
        np.array([-1.0, 1.0, 0.0]),
        np.array(["left", "right", "0"]),
    ]
    values = [Gaussian(1.0, censored=flag).observing(data).potential(rows, own)[0][0] for flag in flags]  # type: ignore[arg-type]
    assert len(set(values)) == 1
    assert values[0] != Gaussian(1.0).observing(data).potential(rows, own)[0][0]
