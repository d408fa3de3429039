"""Log evidence: the integral of an unnormalised posterior density, by that of its surrogate, corrected."""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from rnshmc.factors import log_diagonal
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.uncertainty import Tails
from rnshmc.types import Array

UNKNOWN = Estimate(np.array(np.nan), np.array(np.nan))
"""Log evidence without a surrogate, or where its draws span no volume."""
MARGIN = 40.0
"""Of the bracket of log Z below log ratios: draws of the normal density where V is infinite lower it."""


def log_evidence(
    posterior: SurrogatePosterior,
    draws: Array,
    differences: Array,
    tails: Tails,
    rng: np.random.Generator,
    *,
    expected: float = 0.0,
) -> Estimate:
    """log of the integral of exp(-U) over x, with its standard error.

        log Z_U = log Z_V + log E_V[exp(V - U)]

    Z_V is the surrogate's (`log_normaliser`) by its draws in x, (chains, n, d), and the mean is over the weights of its
    checked draws, by differences U - V, (m,), inf where the density is zero. They are not smoothed, for that lowers the
    mean of a few dozen: the largest becomes a quantile of a tail that ends at it. The standard error includes both, and
    what tails may lack (`Tails.shift`). The variance of the weights is no less than the process of U - V expects
    (`Paths.expected_variance`), for few draws seldom show it. The process is not used for the mean, which paths that
    are far off somewhere would decide.

    Without two checked draws of positive density, the value is log Z_V, and the standard error NaN.
    """
    try:
        of_surrogate = log_normaliser(posterior, draws, rng)
    except np.linalg.LinAlgError:
        return UNKNOWN
    if np.count_nonzero(np.isfinite(differences)) < 2:
        return Estimate(of_surrogate.value, np.array(np.nan))
    log_mean = logsumexp(-differences) - np.log(len(differences))
    of_weights = max(np.exp(-differences - log_mean).var(ddof=1), expected) / len(differences)
    lacking = float(tails.shift(np.ones(len(tails.points))))
    variance = of_surrogate.standard_error**2 + of_weights + lacking**2
    return Estimate(of_surrogate.value + log_mean, np.sqrt(variance))


def log_normaliser(posterior: SurrogatePosterior, draws: Array, rng: np.random.Generator) -> Estimate:
    """log Z_V of a surrogate posterior in x, by bridge sampling (Meng and Wong 1996).

    The chains, (chains, n, d), at least four, are halved. A normal density with the mean and covariance of one half is
    compared with the draws of the other, and the other way round, so that no draw is compared with a density that is
    fitted to it. A `numpy.linalg.LinAlgError` is raised if the draws span no volume.
    """
    z = np.array([posterior.whitening.whiten(chain) for chain in draws])
    halves = z[::2], z[1::2]
    found = [_bridged(posterior, *pair, rng) for pair in (halves, halves[::-1])]
    jacobian = float(log_diagonal(posterior.whitening.factor).sum())
    value = np.mean([one.value for one in found]) - jacobian - posterior.offset
    # Not independent: of a normal V both have the error (m_1 - m) (m_2 - m) / 2, by the means of the halves.
    error = np.mean([one.standard_error for one in found])
    return Estimate(np.asarray(value), np.asarray(error))


def _bridged(posterior: SurrogatePosterior, fitted: Array, compared: Array, rng: np.random.Generator) -> Estimate:
    """log of the integral of exp(-V) over z, by a normal density fitted to one set of draws, and another set.

    With as many draws of the normal density g, and log ratios l = -V - log g, the optimal bridge solves
    mean_g s(l - c) = mean_V s(c - l) for c = log Z, with the logistic function s (Bennett 1976). Its error is to first
    order that of the difference, over its slope: draws of g are independent, those of V are by chain.
    """
    chains, n, dim = compared.shape
    rows = fitted.reshape(-1, dim)
    mean, factor = rows.mean(axis=0), np.linalg.cholesky(np.cov(rows.T).reshape(dim, dim))
    normal = mean + rng.standard_normal((chains, n, dim)) @ factor.T
    of_surrogate, of_normal = (_log_ratios(posterior, draws, mean, factor) for draws in (compared, normal))
    both = np.concatenate((of_surrogate, of_normal))
    finite = both[np.isfinite(both)]
    low, high = finite.min() - MARGIN, finite.max()
    log_z = brentq(lambda c: expit(of_normal - c).mean() - expit(c - of_surrogate).mean(), low, high)
    by_normal, by_surrogate = expit(of_normal - log_z), expit(log_z - of_surrogate)
    slope = (by_normal * (1.0 - by_normal)).mean() + (by_surrogate * (1.0 - by_surrogate)).mean()
    variance = by_normal.var() / by_normal.size + by_surrogate.mean(axis=1).var(ddof=1) / chains
    # Where no draw of one lies where the other has mass, there is no bridge between them.
    return Estimate(np.asarray(log_z), np.asarray(np.sqrt(variance) / slope if slope > 0 else np.nan))


def _log_ratios(posterior: SurrogatePosterior, draws: Array, mean: Array, factor: Array) -> Array:
    """-V - log g at whitened draws (chains, n, d), for the normal density g: (chains, n); -inf where V overflows."""
    values = np.array([posterior.values_and_gradients(chain)[0] for chain in draws])
    values = np.where(np.isnan(values), np.inf, values)
    standard = solve_triangular(factor, (draws - mean).reshape(-1, len(mean)).T, lower=True)
    constant = log_diagonal(factor).sum() + 0.5 * len(mean) * np.log(2.0 * np.pi)
    return np.asarray(0.5 * (standard**2).sum(axis=0).reshape(values.shape) + constant - values)
