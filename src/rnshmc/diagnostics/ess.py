"""Effective sample sizes: Geyer's, as in paper A, and the truncated sum of paper B's implementation."""

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import comb

from rnshmc.errors import ParameterError
from rnshmc.types import Array

MIN_DRAWS = 4
MAX_LAG = 200
"""Largest lag in the published implementation of paper B."""


def autocorrelation(draws: Array) -> Array:
    """Autocorrelation of each column of a chain, shape (n, d), at every lag, by the fast Fourier transform.

    Row k of the result, shape (n, d), holds gamma(k) / gamma(0), where gamma(k) = sum_t (x_t - xbar)(x_{t+k} - xbar) /
    n is the biased autocovariance, which keeps the sequence positive definite. A column that never moves has
    autocorrelation 1 at every lag. Raises `ParameterError` if `draws` is not a matrix of at least four finite rows.
    """
    _check(draws)
    n = len(draws)
    centred = draws - draws.mean(axis=0)
    spectrum = np.abs(rfft(centred, next_fast_len(2 * n, real=True), axis=0)) ** 2
    autocovariance = irfft(spectrum, next_fast_len(2 * n, real=True), axis=0)[:n]
    still = np.ptp(draws, axis=0) == 0
    return np.where(still, 1.0, autocovariance / np.where(still, 1.0, autocovariance[0]))


def geyer_ess(draws: Array) -> Array:
    """Effective sample size of each coordinate of one chain, shape (n, d) (paper A, section 5).

    The autocorrelations are summed in pairs Gamma_k = rho(2k) + rho(2k + 1). Up to the first pair that is not positive,
    and made non-increasing, they give the integrated autocorrelation time tau = -1 + 2 sum_k Gamma_k, and ESS = n / tau
    (Geyer 1992, section 3.3). As in paper A, tau is floored at 1: an antithetic chain counts for its n draws, not more.
    The result, shape (d,), is between 1 and n. A coordinate that never moves is one draw repeated: its ESS is 1. Raises
    `ParameterError` if `draws` is not a matrix of at least four finite rows.
    """
    rho = autocorrelation(draws)
    n = len(rho)
    pairs = rho[: n - n % 2].reshape(n // 2, 2, -1).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    time = -1.0 + 2.0 * np.where(positive, monotone, 0.0).sum(axis=0)
    # A constant column gives tau = n (or n - 1 for odd n, where the last lag has no partner): one draw either way.
    time = np.where(np.ptp(draws, axis=0) == 0, n, time)
    return n / np.maximum(time, 1.0)


def truncated_ess(draws: Array, *, empty: float = 0.0) -> Array:
    """Effective sample size of each coordinate of one chain, as in the published implementation of paper B.

    ESS = n / (1 + sum_k rho(k)), where the sum ends before the first negative autocorrelation, and after `MAX_LAG` lags
    at the latest. The formula in the text (paper B, section 4) doubles the sum, as `geyer_ess` does: where correlation
    is strong, this ESS is up to twice that one, and more where it lasts longer than `MAX_LAG` draws. The result, shape
    (d,), is between 1 and n. A coordinate that never moves is one draw repeated: its ESS is 1.

    ``empty`` is the share of iterations, drawn at random, in which the chain to be counted stays where it is while this
    one, shape (n, d), moves on: paper B's implementation draws trajectories of no step as well. Of k iterations
    Binomial(k, 1 - empty) move, so rho(k) is mixed from those of this chain with the probabilities of that law. Raises
    `ParameterError` if `draws` is not a matrix of at least four finite rows, or empty is not in [0, 1).
    """
    if not 0.0 <= empty < 1.0:
        raise ParameterError(f"empty: expected a share in [0, 1), got {empty}")
    rho = autocorrelation(draws)
    n = len(rho)
    lags = _slowed(rho[: MAX_LAG + 1], empty)[1:]
    before_negative = np.logical_and.accumulate(lags >= 0, axis=0)
    time = 1.0 + np.where(before_negative, lags, 0.0).sum(axis=0)
    return n / np.where(np.ptp(draws, axis=0) == 0, n, time)


def _slowed(rho: Array, empty: float) -> Array:
    """Autocorrelations at lags 0, 1, ... of a chain that stays in place in a share of its iterations."""
    if empty == 0.0:
        return rho
    moves = np.arange(len(rho))
    lags = moves[:, np.newaxis]
    # Binomial probabilities of the number of moves per lag; importing scipy.stats would take a second.
    law = comb(lags, moves) * (1.0 - empty) ** moves * empty ** np.maximum(lags - moves, 0)
    return np.asarray(law @ rho)


def _check(draws: Array) -> None:
    if draws.ndim != 2 or len(draws) < MIN_DRAWS:
        raise ParameterError(f"draws: expected shape (n, d) with n >= {MIN_DRAWS}, got {draws.shape}")
    if not np.isfinite(draws).all():
        row, column = np.argwhere(~np.isfinite(draws))[0]
        raise ParameterError(f"draws: row {row}, coordinate {column} is {draws[row, column]}")
