"""Effective sample sizes against processes whose autocorrelation time is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter

from rnshmc.diagnostics.ess import MAX_LAG, autocorrelation, geyer_ess, truncated_ess
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound


def ar1(coefficient: float, n: int, d: int) -> Array:
    """Stationary AR(1) paths with unit innovations; their autocorrelation time is (1 + a) / (1 - a)."""
    noise = stream(1, "ar1", str(coefficient)).normal(size=(n, d))
    noise[0] /= np.sqrt(1 - coefficient**2)
    return np.asarray(lfilter([1.0], [1.0, -coefficient], noise, axis=0))


@pytest.mark.parametrize("coefficient", [0.3, 0.6, 0.9])
def test_ess_of_an_ar1_chain_is_n_times_one_minus_a_over_one_plus_a(coefficient: float) -> None:
    n, d = 20_000, 100
    exact = n * (1 - coefficient) / (1 + coefficient)
    ess = geyer_ess(ar1(coefficient, n, d))
    # The mean over d independent columns has relative error sd / sqrt(d); the truncation of the sequence leaves a bias
    # that vanishes with n, below 1% here.
    standard_error = ess.std(ddof=1) / np.sqrt(d)
    assert abs(ess.mean() - exact) < z_bound() * standard_error + 0.01 * exact


def test_white_noise_is_worth_nearly_all_its_draws() -> None:
    n = 20_000
    ess = geyer_ess(stream(1, "white").normal(size=(n, 50)))
    # tau = 1 + 2 rho(1) + noise pairs; each rho has standard deviation 1 / sqrt(n), a handful of them are summed.
    # Over 40 seeds the smallest ESS is 0.925 n and the median 0.992 n, with spreads of 0.013 n and 0.003 n: seven of
    # these and more.
    assert ess.min() > n * (1 - 12 * 2 / np.sqrt(n))
    assert np.median(ess) > n * (1 - 4 * 2 / np.sqrt(n))
    assert ess.max() <= n


def test_an_antithetic_chain_counts_for_no_more_than_its_draws() -> None:
    n = 5_000
    assert_array_equal(geyer_ess(ar1(-0.6, n, 10)), np.full(10, n))


def test_a_chain_that_never_moves_is_one_draw() -> None:
    for n in (100, 101):
        assert_allclose(geyer_ess(np.full((n, 2), 3.7)), [1.0, 1.0])


def test_a_chain_that_moves_once_is_worth_a_few_draws() -> None:
    draws = np.repeat([[0.0], [1.0]], 500, axis=0)
    assert 1.0 <= geyer_ess(draws)[0] < 10.0


def test_ess_does_not_depend_on_place_and_scale() -> None:
    draws = ar1(0.6, 2_000, 3)
    assert_allclose(geyer_ess(1e-6 * draws + 5.0), geyer_ess(draws), rtol=1e-6)


def test_ess_follows_geyers_definition_term_by_term() -> None:
    draws = ar1(0.7, 301, 4)
    expected = []
    for column in draws.T:
        x = column - column.mean()
        gamma = [float(x[: len(x) - k] @ x[k:]) for k in range(len(x))]
        total, last = 0.0, np.inf
        for k in range(0, len(x) - 1, 2):
            pair = gamma[k] + gamma[k + 1]
            if pair <= 0:
                break
            last = min(last, pair)
            total += last
        expected.append(len(x) / max(1.0, -1 + 2 * total / gamma[0]))
    assert_allclose(geyer_ess(draws), expected, rtol=1e-9)


def test_autocorrelation_of_an_ar1_chain_decays_geometrically() -> None:
    n, a = 20_000, 0.6
    rho = autocorrelation(ar1(a, n, 200))[:6].mean(axis=1)
    # Bartlett: var rho(k) < (1 + a^2) / (1 - a^2) / n for each column; 200 columns are averaged; the bias is tau / n.
    tolerance = z_bound(5) * np.sqrt((1 + a**2) / (1 - a**2) / n / 200) + 2 * 4 / n
    assert_allclose(rho, a ** np.arange(6), atol=tolerance)


@pytest.mark.parametrize("coefficient", [0.3, 0.6, 0.9])
def test_truncated_ess_of_an_ar1_chain_is_n_times_one_minus_a(coefficient: float) -> None:
    n, d = 20_000, 100
    exact = n * (1 - coefficient)  # the sum of a^k from k = 1 is a / (1 - a)
    ess = truncated_ess(ar1(coefficient, n, d))
    # Noise decides where the sum ends: what it adds or loses is below one standard deviation of a late lag times the
    # few lags of a run, 2% of the time here.
    standard_error = ess.std(ddof=1) / np.sqrt(d)
    assert abs(ess.mean() - exact) < z_bound() * standard_error + 0.02 * exact


def test_truncated_ess_is_one_plus_a_times_geyers_on_an_ar1_chain() -> None:
    draws = ar1(0.9, 20_000, 100)
    ratio = truncated_ess(draws) / geyer_ess(draws)
    # Both truncate the same noisy sequence, so that most of the noise cancels; the rest is averaged over the columns.
    assert abs(ratio.mean() - 1.9) < z_bound() * ratio.std(ddof=1) / np.sqrt(ratio.size) + 0.02 * 1.9


@pytest.mark.parametrize("empty", [0.02, 0.2, 0.5])
def test_truncated_ess_of_a_chain_that_stays_is_that_of_the_chain_that_does(empty: float) -> None:
    n, d = 20_000, 100
    draws = ar1(0.6, n, d)
    moves = stream(1, "empty", str(empty)).random((n, d)) >= empty
    slowed = np.take_along_axis(draws, np.maximum(np.cumsum(moves, axis=0) - 1, 0), axis=0)
    expected, found = truncated_ess(slowed), truncated_ess(draws, empty=empty)
    error = np.hypot(expected.std(ddof=1), found.std(ddof=1)) / np.sqrt(d)
    # The first negative lag ends either sum where the noise of the estimates lets it: below 1% here.
    assert abs(found.mean() - expected.mean()) < z_bound() * error + 0.01 * expected.mean()


def test_a_chain_that_stays_keeps_one_minus_its_share_of_an_ar1_chain() -> None:
    """The sum of all autocorrelations, that at lag 0 among them, grows by 1 / (1 - empty)."""
    ratio = truncated_ess(ar1(0.9, 20_000, 100), empty=0.2) / truncated_ess(ar1(0.9, 20_000, 100))
    assert abs(ratio.mean() - 0.8) < 0.008


@pytest.mark.parametrize("empty", [-0.1, 1.0])
def test_a_share_out_of_range_is_named(empty: float) -> None:
    with pytest.raises(ParameterError, match=f"empty.*{empty}"):
        truncated_ess(np.zeros((10, 1)), empty=empty)


def test_truncated_ess_sums_up_to_the_first_negative_lag() -> None:
    draws = ar1(0.7, 301, 4)
    expected = []
    for column in draws.T:
        x = column - column.mean()
        total = 0.0
        for k in range(1, MAX_LAG + 1):
            rho = float(x[:-k] @ x[k:]) / float(x @ x)
            if rho < 0:
                break
            total += rho
        expected.append(len(x) / (1 + total))
    assert_allclose(truncated_ess(draws), expected, rtol=1e-9)


def test_truncated_ess_looks_no_further_than_its_last_lag() -> None:
    n = 20_000
    draws = np.linspace(0.0, 1.0, n)[:, np.newaxis]  # correlated with itself over thousands of lags
    assert n / (MAX_LAG + 1) < truncated_ess(draws)[0] < n / (0.9 * MAX_LAG)


@pytest.mark.parametrize("n", [100, 1000])
def test_truncated_ess_is_between_one_and_all_draws(n: int) -> None:
    assert_allclose(truncated_ess(np.full((n, 2), 3.7)), [1.0, 1.0])
    assert_array_equal(truncated_ess(ar1(-0.6, n, 5)), np.full(5, n))


def test_draws_that_are_not_finite_are_named() -> None:
    draws = np.zeros((10, 3))
    draws[4, 2] = np.nan
    with pytest.raises(ParameterError, match=r"row 4, coordinate 2 is nan"):
        geyer_ess(draws)


@pytest.mark.parametrize("shape", [(3, 2), (10,)])
def test_too_few_draws_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"shape \(n, d\)"):
        geyer_ess(np.zeros(shape))
