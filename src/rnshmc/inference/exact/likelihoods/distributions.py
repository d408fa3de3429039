"""Distributions of a datum given its predictor, as a table of formulas.

A new likelihood of independent data is an entry of `DISTRIBUTIONS` and its public constructor in `named.py`.

Formulas take the predictors f, shape (k, m), the data y, (m,), the distribution's constants, and its positive numbers,
such as a standard deviation, of shapes that broadcast to (k, m).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, erfcx, expit, gammaln, log_expit, log_ndtr, stdtr

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.inference.exact.likelihoods.base import FlatData
from rnshmc.inference.exact.likelihoods.links import CholeskyWhitening, Link, Log, Logit, cholesky
from rnshmc.types import Array

LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_FLOOR = 1e-8
"""Smallest mean of a count (m zero counts change -log p by at most m 1e-8), smallest positive output relative to its
datum (errors of almost 100%), and smallest distance of a probability from 0 and 1."""
_SLACK = 1e-6
"""Largest output of the wrong sign, relative to the largest datum: an error of solvers of differential equations."""
_LARGEST = 1e18
"""Largest mean from which a count is drawn: counts are whole numbers of 64 bits."""
_STEP = 1e-4
"""Relative step of the central difference by the degrees of freedom."""
_UNDERFLOW = 1e-100
"""Probabilities below this are computed by their logarithm."""
_FRACTION_TERMS = 60
"""Terms of the continued fraction; where probabilities are this small, a few reach rounding error."""

Reading = tuple[Link, Array, tuple[Any, ...]]
Terms = tuple[Array, Array, tuple[Array, ...]]
Tail = tuple[Array, Array, Array, tuple[Array, ...]]


@dataclass(frozen=True)
class Distribution:
    """An entry of the table."""

    read: Callable[..., Reading]
    """Link, y and constants, from the data and the likelihood's known arrays; `ParameterError` on impossible data."""
    terms: Callable[..., Terms]
    """-log p of each datum, its derivative by the predictor, and those by the positive numbers; each (k, m)."""
    curvatures: Callable[..., Array]
    """Expected second derivative of -log p by the predictor, broadcasting to (k, m)."""
    draws: Callable[..., Array]
    """New data, (k, m), from a generator and the same arguments; predictors where there is a `tail`."""
    tail: Callable[..., Tail] | None = None
    """For y = f + scale e, e symmetric with cumulative distribution G and the scale last: log G(z), its derivative, the
    second derivative of -log G (or a positive number of its size, in [0, 1]), and derivatives of log G by the shape
    parameters, all from z and these. Such data may be limits."""


def normal_terms(f: Array, y: Array, log_units: Array | float, sd: Array) -> Terms:
    """z^2 / 2 + log sd + log(2 pi) / 2 + log_units for z = (f - y) / sd, with derivatives.

    ``log_units`` are the logarithms of the derivatives of the observations by y, where y is a function of them.
    """
    z = (f - y) / sd
    return 0.5 * z**2 + np.log(sd) + (LOG_ROOT_2PI + log_units), z / sd, ((1.0 - z**2) / sd,)


def _normal_tail(z: Array, *_: Any) -> Tail:
    """log Phi(z), h = phi(z) / Phi(z), in both tails to rounding error, and h (h + z)."""
    slope = np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))
    return np.asarray(log_ndtr(z)), slope, slope * (slope + z), ()


def _relative_terms(f: Array, y: Array, sign: float, sd: Array) -> Terms:
    """z^2 / 2 + log |F| + log sd + log(2 pi) / 2 for z = (y / F - 1) / sd and the predictor log |F|."""
    ratios = sign * y * np.exp(-f)
    z = (ratios - 1.0) / sd
    return 0.5 * z**2 + f + np.log(sd) + LOG_ROOT_2PI, 1.0 - z * ratios / sd, ((1.0 - z**2) / sd,)


def _student_terms(f: Array, y: Array, df: Array, scale: Array) -> Terms:
    z = (f - y) / scale
    weight = (df + 1.0) / (df + z**2)
    logs = np.log1p(z**2 / df)
    terms = 0.5 * (df + 1.0) * logs + np.log(scale) + log_normaliser(df)
    by_df = 0.5 * (logs - weight * z**2 / df + 1.0 / df + digamma(0.5 * df) - digamma(0.5 * (df + 1.0)))
    return terms, weight * z / scale, (by_df, (1.0 - weight * z**2) / scale)


def _student_tail(z: Array, df: Array) -> Tail:
    """The squared slope replaces the second derivative, which is negative in the tail; differences by df."""
    logs = log_student_cdf(z, df)
    slope = np.exp(-0.5 * (df + 1.0) * np.log1p(z**2 / df) - log_normaliser(df) - logs)
    by_df = (log_student_cdf(z, df * (1.0 + _STEP)) - log_student_cdf(z, df * (1.0 - _STEP))) / (2.0 * _STEP * df)
    return logs, slope, slope**2, (by_df,)


def log_student_cdf(z: Array, df: Array) -> Array:
    """Logarithm of the cumulative distribution of Student's t, finite far out in the lower tail."""
    probabilities = np.asarray(stdtr(df, z))
    far = (probabilities < _UNDERFLOW) & (z < 0)
    logs: Array = np.log(np.where(far, 1.0, probabilities))
    logs[far] = _log_tail(z[far], np.broadcast_to(df, z.shape)[far])
    return logs


def _log_tail(z: Array, df: Array) -> Array:
    """log G(z) for z far below zero: G(z) = I_x(a, b) / 2 with x = df / (df + z^2), a = df / 2, b = 1 / 2.

    The incomplete beta function I is a continued fraction (Abramowitz and Stegun 26.5.8), evaluated from its end.
    """
    a, b = 0.5 * df, 0.5
    x = 1.0 / (1.0 + z**2 / df)
    fraction = np.ones_like(x)
    for j in range(_FRACTION_TERMS, 0, -1):
        even = j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j))
        odd = -(a + j - 1) * (a + b + j - 1) * x / ((a + 2 * j - 2) * (a + 2 * j - 1))
        fraction = 1.0 + odd / (1.0 + even / fraction)
    log_x = -np.log1p(z**2 / df)
    log_rest = -np.log1p(df / z**2)
    return np.asarray(a * log_x + b * log_rest - np.log(a) - betaln(a, b) - np.log(fraction) - np.log(2.0))


def log_normaliser(df: Array) -> Array:
    """Logarithm of the normalising constant of Student's t density."""
    return np.asarray(0.5 * np.log(df) + betaln(0.5 * df, 0.5))


def _poisson_terms(f: Array, y: Array) -> Terms:
    """mu - y log mu + log y! for mu = exp(f)."""
    mean = np.exp(f)
    return mean - y * f + gammaln(y + 1.0), mean - y, ()


def _negative_binomial_terms(f: Array, y: Array, dispersion: Array) -> Terms:
    """-log p with t = log(mu / dispersion), in terms that do not cancel for a large dispersion."""
    t = f - np.log(dispersion)
    log_failure, log_success = log_expit(-t), log_expit(t)
    counted = np.where(y > 0, -np.log(np.maximum(y, 1.0)) - betaln(dispersion, np.maximum(y, 1.0)), 0.0)
    terms = -dispersion * log_failure - y * log_success - counted
    slopes = dispersion * expit(t) - y * expit(-t)
    by_dispersion = digamma(dispersion) - digamma(y + dispersion) - log_failure - slopes / dispersion
    return terms, slopes, (by_dispersion,)


def _binomial_terms(f: Array, y: Array, trials: Array) -> Terms:
    """-y log p - (n - y) log(1 - p) - log (n over y) for p = expit(f)."""
    failures = trials - y
    ways = -betaln(y + 1.0, failures + 1.0) - np.log1p(trials)
    return -y * log_expit(f) - failures * log_expit(-f) - ways, trials * expit(f) - y, ()


def _poisson_draws(rng: np.random.Generator, mean: Array) -> Array:
    return np.asarray(rng.poisson(np.minimum(mean, _LARGEST)), dtype=np.float64)


def _mean(f: Array) -> Array:
    return np.asarray(np.exp(np.minimum(f, np.log(_LARGEST))))


def _negative_binomial_draws(rng: np.random.Generator, f: Array, _y: Array, dispersion: Array) -> Array:
    """Poisson draws with gamma-distributed means."""
    sizes = np.broadcast_to(dispersion, f.shape)
    return _poisson_draws(rng, _mean(f) / sizes * rng.standard_gamma(sizes))


def _whitened(data: FlatData, covariance: Array) -> Reading:
    """L^-1 F for the covariance L L' of the entries with data."""
    if covariance.shape != (data.size, data.size):
        raise ParameterError(
            f"covariance: expected shape {(data.size, data.size)} for {data.size} data, got {covariance.shape}"
        )
    link = CholeskyWhitening(cholesky("covariance", covariance[np.ix_(data.present, data.present)]))
    return link, link.solved(data.values), (log_diagonal(link.factor),)


def _logarithms(data: FlatData) -> Reading:
    """y are the logarithms of the data, whose derivatives by y are the data."""
    if (data.values <= 0).any():
        raise ParameterError(f"data: got {data.where(data.values <= 0)}, expected positive data for LogNormal")
    logs = np.log(data.values)
    return _relative_log(data), logs, (logs,)


def _of_one_sign(data: FlatData) -> Reading:
    """log |F| for outputs with the sign of most data."""
    if (data.values == 0).any():
        raise ParameterError(
            f"data: got {data.where(data.values == 0)}, but an error relative to 0 is undefined; "
            "expected other numbers, or NaN to leave the datum out"
        )
    sign = 1.0 if np.median(data.values) > 0 else -1.0
    return _relative_log(data, sign), data.values, (sign,)


def _relative_log(data: FlatData, sign: float = 1.0) -> Log:
    sizes = np.abs(data.values)
    return Log(_FLOOR * sizes, _SLACK * float(sizes.max()), sign)


def _counts(data: FlatData) -> Reading:
    wrong = (data.values < 0) | (data.values != np.round(data.values))
    if wrong.any():
        raise ParameterError(f"data: got {data.where(wrong)}, expected counts: whole numbers from 0 on")
    return Log(_FLOOR, _SLACK * max(1.0, float(data.values.max()))), data.values, ()


def _successes(data: FlatData, n: Array) -> Reading:
    _counts(data)
    trials = np.asarray(data.spread("n", n), dtype=np.float64)
    above = data.values > trials
    if above.any():
        raise ParameterError(f"data: got {data.where(above)}, expected at most n = {trials[above][0]:g}")
    return Logit(_FLOOR, _SLACK), data.values, (trials,)


_GAUSSIAN = Distribution(
    read=lambda data: (Link(), data.values, (0.0,)),
    terms=normal_terms,
    curvatures=lambda _f, _y, _log_units, sd: 1.0 / sd**2,
    draws=lambda rng, f, _y, _log_units, sd: f + sd * rng.standard_normal(f.shape),
    tail=_normal_tail,
)
DISTRIBUTIONS = {
    "gaussian": _GAUSSIAN,
    "correlated": replace(_GAUSSIAN, read=_whitened),
    "lognormal": replace(_GAUSSIAN, read=_logarithms),
    "relative": Distribution(
        read=_of_one_sign,
        terms=_relative_terms,
        curvatures=lambda _f, _y, _sign, sd: 1.0 / sd**2 + 2.0,
        draws=lambda rng, f, _y, sign, sd: sign * np.exp(f) * (1.0 + sd * rng.standard_normal(f.shape)),
    ),
    "student_t": Distribution(
        read=lambda data: (Link(), data.values, ()),
        terms=_student_terms,
        curvatures=lambda _f, _y, df, scale: (df + 1.0) / (df + 3.0) / scale**2,
        draws=lambda rng, f, _y, df, scale: f + scale * rng.standard_t(np.broadcast_to(df, f.shape)),
        tail=_student_tail,
    ),
    "poisson": Distribution(
        read=_counts,
        terms=_poisson_terms,
        curvatures=lambda f, _y: np.exp(f),
        draws=lambda rng, f, _y: _poisson_draws(rng, _mean(f)),
    ),
    "negative_binomial": Distribution(
        read=_counts,
        terms=_negative_binomial_terms,
        curvatures=lambda f, _y, dispersion: dispersion * expit(f - np.log(dispersion)),
        draws=_negative_binomial_draws,
    ),
    "binomial": Distribution(
        read=_successes,
        terms=_binomial_terms,
        curvatures=lambda f, _y, trials: trials * expit(f) * expit(-f),
        draws=lambda rng, f, _y, trials: rng.binomial(trials.astype(np.int64), expit(f)).astype(np.float64),
    ),
}
