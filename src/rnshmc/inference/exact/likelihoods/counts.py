"""Counts: Poisson, negative binomial and binomial."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, digamma, expit, gammaln, log_expit

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Bound
from rnshmc.inference.exact.likelihoods.flat import FlatData, flattened
from rnshmc.inference.exact.likelihoods.independent import Independent
from rnshmc.inference.exact.likelihoods.links import Log, Logit
from rnshmc.inference.exact.likelihoods.scales import Given, scale_argument
from rnshmc.types import Array

_FLOOR = 1e-8
"""Smallest mean of a count, and distance of a probability from 0 and 1: m counts of zero lose m 1e-8 by it."""
_SLACK = 1e-6
"""Largest negative mean, relative to the largest count: what solvers of differential equations leave for zero."""
_LARGEST = 1e18
"""Largest mean from which a count is drawn: counts are whole numbers of 64 bits."""


@dataclass(frozen=True, eq=False)
class PoissonFamily:
    """y ~ Poisson(exp(predictor)), for counts y of shape (m,)."""

    data: Array

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:  # noqa: ARG002
        """mu - y log mu + log y!, with its derivative."""
        mean = np.exp(predictors)
        return mean - self.data * predictors + gammaln(self.data + 1.0), mean - self.data, ()

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:  # noqa: ARG002
        """mu."""
        return np.asarray(np.exp(predictors))

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """New counts."""
        return _poisson(_mean(predictors), rng)


@dataclass(frozen=True, eq=False)
class NegativeBinomialFamily:
    """Counts y of shape (m,) with mean mu = exp(predictor) and variance mu + mu^2 / dispersion."""

    data: Array

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """-log p with derivatives by log mu and the dispersion.

        With t = log(mu / dispersion), in terms that do not cancel for a large dispersion.
        """
        (dispersion,) = numbers
        y, t = self.data, predictors - np.log(dispersion)
        log_failure, log_success = log_expit(-t), log_expit(t)
        counted = np.where(y > 0, -np.log(np.maximum(y, 1.0)) - betaln(dispersion, np.maximum(y, 1.0)), 0.0)
        terms = -dispersion * log_failure - y * log_success - counted
        slopes = dispersion * expit(t) - y * expit(-t)
        by_dispersion = digamma(dispersion) - digamma(y + dispersion) - log_failure - slopes / dispersion
        return terms, slopes, (by_dispersion,)

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:
        """mu / (1 + mu / dispersion)."""
        (dispersion,) = numbers
        return np.asarray(dispersion * expit(predictors - np.log(dispersion)))

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """New counts: Poisson with means of a gamma distribution."""
        dispersion = np.broadcast_to(numbers[0], predictors.shape)
        return _poisson(_mean(predictors) / dispersion * rng.standard_gamma(dispersion), rng)


@dataclass(frozen=True, eq=False)
class BinomialFamily:
    """y ~ Binomial(n, expit(predictor)), for counts y and trials n of shape (m,)."""

    data: Array
    trials: Array

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:  # noqa: ARG002
        """-y log p - (n - y) log(1 - p) - log (n over y), with its derivative."""
        failures = self.trials - self.data
        ways = -betaln(self.data + 1.0, failures + 1.0) - np.log1p(self.trials)
        terms = -self.data * log_expit(predictors) - failures * log_expit(-predictors) - ways
        return terms, self.trials * expit(predictors) - self.data, ()

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:  # noqa: ARG002
        """n p (1 - p)."""
        return np.asarray(self.trials * expit(predictors) * expit(-predictors))

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """New counts."""
        return np.asarray(rng.binomial(self.trials.astype(np.int64), expit(predictors)), dtype=np.float64)


class Poisson:
    """Counts: y ~ Poisson(F).

    Predictors are log F. A mean below 1e-8 counts as that; so does a negative one down to -1e-6 times the largest
    count, as solvers return for zero. Below that, the model run has failed.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def bounds(self) -> dict[str, Bound]:
        """None."""
        return {}

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these counts."""
        flat = _counts(data)
        return Independent(flat, _log_link(flat), PoissonFamily(flat.values))


class NegativeBinomial:
    """Overdispersed counts: mean F and variance F + F^2 / dispersion (``neg_binomial_2`` of Stan).

    Predictors are log F, with the floor of `Poisson`.

    Parameters
    ----------
    dispersion
        A positive number, or the name of an unknown parameter; the larger, the closer to Poisson. An array that
        broadcasts to the data and names along their last axis are possible, too.

    Raises
    ------
    ParameterError
        If the argument cannot be used.
    """

    def __init__(self, dispersion: Given) -> None:
        self._dispersion = scale_argument("dispersion", dispersion)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the unknown dispersion."""
        return self._dispersion.names

    @property
    def bounds(self) -> dict[str, Bound]:
        """It is positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these counts."""
        flat = _counts(data)
        scales = (self._dispersion.bound(flat, self.names),)
        return Independent(flat, _log_link(flat), NegativeBinomialFamily(flat.values), scales)


class Binomial:
    """Successes among n trials: y ~ Binomial(n, F), with the probability F as output.

    Predictors are logit F. A probability closer to 0 or 1 than 1e-8 counts as that, and so does one beyond them by up
    to 1e-6. Further out, the model run has failed.

    Parameters
    ----------
    n
        Number of trials: a positive whole number, or an array of them that broadcasts to the data.

    Raises
    ------
    ParameterError
        If the argument cannot be used.
    """

    def __init__(self, n: npt.ArrayLike) -> None:
        self._trials = np.asarray(scale_argument("n", n).known)
        if scale_argument("n", n).names or (self._trials != np.round(self._trials)).any():
            raise ParameterError(f"n: expected positive whole numbers, got {n!r:.80}")

    @property
    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def bounds(self) -> dict[str, Bound]:
        """None."""
        return {}

    def observing(self, data: Mapping[str, Array]) -> Independent:
        """The likelihood of these numbers of successes."""
        flat = _counts(data)
        trials = np.asarray(flat.spread("n", self._trials), dtype=np.float64)
        if (flat.values > trials).any():
            above = flat.values > trials
            raise ParameterError(f"data: got {flat.where(above)}, expected at most n = {trials[above][0]:g}")
        return Independent(flat, Logit(_FLOOR, _SLACK), BinomialFamily(flat.values, trials))


def _counts(data: Mapping[str, Array]) -> FlatData:
    flat = flattened(data)
    wrong = (flat.values < 0) | (flat.values != np.round(flat.values))
    if wrong.any():
        raise ParameterError(f"data: got {flat.where(wrong)}, expected counts: whole numbers from 0 on")
    return flat


def _log_link(data: FlatData) -> Log:
    return Log(_FLOOR, _SLACK * max(1.0, float(data.values.max())))


def _mean(predictors: Array) -> Array:
    return np.asarray(np.exp(np.minimum(predictors, np.log(_LARGEST))))


def _poisson(mean: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.poisson(np.minimum(mean, _LARGEST)), dtype=np.float64)
