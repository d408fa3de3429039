"""Independent priors by the name of a distribution, or by a distribution of scipy.stats."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.differentiated import STEP
from rnshmc.inference.exact.likelihoods.distributions import LOG_ROOT_2PI, log_normaliser, normal_terms
from rnshmc.inference.exact.priors.base import Prior
from rnshmc.inference.given import numbers
from rnshmc.types import Array

NEAR = 1e-3
"""Largest step relative to the distance from an end of the support: the relative error of the slope of a density that
is a power of that distance is about the square of this."""


@dataclass(frozen=True)
class Kind:
    """A distribution of one number."""

    parameters: tuple[str, ...]
    positive: tuple[str, ...]
    """Names of the parameters that must be positive."""
    terms: Callable[..., tuple[Array, Array]]
    """-log density and its derivative, from x and the parameters, all of shapes that broadcast."""
    frozen: Callable[..., Any]
    """The same distribution in scipy, for its support, moments and draws."""
    turns: bool = False
    """Whether the support is a circle, of which low and high are one point."""


def _normal(x: Array, mean: Array, sd: Array) -> tuple[Array, Array]:
    return normal_terms(x, mean, 0.0, sd)[:2]


def _lognormal(x: Array, mu: Array, sigma: Array) -> tuple[Array, Array]:
    z = (np.log(x) - mu) / sigma
    return 0.5 * z**2 + np.log(x) + np.log(sigma) + LOG_ROOT_2PI, (z / sigma + 1.0) / x


def _uniform(x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    slopes = np.zeros_like(x)
    return slopes + np.log(high - low), slopes


def _loguniform(x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    return np.log(x) + np.log(np.log(high / low)), 1.0 / x


def _halfnormal(x: Array, sd: Array) -> tuple[Array, Array]:
    return _folded(_normal(x, np.zeros(()), sd))


def _gamma(x: Array, shape: Array, rate: Array) -> tuple[Array, Array]:
    normaliser = gammaln(shape) - shape * np.log(rate)
    return rate * x - (shape - 1.0) * np.log(x) + normaliser, rate - (shape - 1.0) / x


def _inversegamma(x: Array, shape: Array, scale: Array) -> tuple[Array, Array]:
    normaliser = gammaln(shape) - shape * np.log(scale)
    return (shape + 1.0) * np.log(x) + scale / x + normaliser, (shape + 1.0 - scale / x) / x


def _exponential(x: Array, rate: Array) -> tuple[Array, Array]:
    return rate * x - np.log(rate), np.broadcast_to(rate, x.shape)


def _beta(x: Array, a: Array, b: Array) -> tuple[Array, Array]:
    terms = betaln(a, b) - (a - 1.0) * np.log(x) - (b - 1.0) * np.log1p(-x)
    return terms, -(a - 1.0) / x + (b - 1.0) / (1.0 - x)


def _student_t(x: Array, df: Array, location: Array, scale: Array) -> tuple[Array, Array]:
    z = (x - location) / scale
    normaliser = log_normaliser(df) + np.log(scale)
    return 0.5 * (df + 1.0) * np.log1p(z**2 / df) + normaliser, (df + 1.0) * z / (df + z**2) / scale


def _cauchy(x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
    return _student_t(x, np.ones(()), location, scale)


def _halfcauchy(x: Array, scale: Array) -> tuple[Array, Array]:
    return _folded(_cauchy(x, np.zeros(()), scale))


def _folded(terms: tuple[Array, Array]) -> tuple[Array, Array]:
    """Terms of the positive half of a density that is symmetric about 0."""
    return terms[0] - np.log(2.0), terms[1]


KINDS = {
    "normal": Kind(("mean", "sd"), ("sd",), _normal, stats.norm),
    "lognormal": Kind(("mu", "sigma"), ("sigma",), _lognormal, lambda mu, s: stats.lognorm(s, scale=np.exp(mu))),
    "uniform": Kind(("low", "high"), (), _uniform, lambda low, high: stats.uniform(low, high - low)),
    "uniform_angle": Kind(("low", "high"), (), _uniform, lambda low, high: stats.uniform(low, high - low), turns=True),
    "loguniform": Kind(("low", "high"), ("low",), _loguniform, stats.loguniform),
    "halfnormal": Kind(("sd",), ("sd",), _halfnormal, lambda sd: stats.halfnorm(scale=sd)),
    "gamma": Kind(
        ("shape", "rate"), ("shape", "rate"), _gamma, lambda shape, rate: stats.gamma(shape, scale=1.0 / rate)
    ),
    "inversegamma": Kind(
        ("shape", "scale"), ("shape", "scale"), _inversegamma, lambda shape, s: stats.invgamma(shape, scale=s)
    ),
    "exponential": Kind(("rate",), ("rate",), _exponential, lambda rate: stats.expon(scale=1.0 / rate)),
    "beta": Kind(("a", "b"), ("a", "b"), _beta, stats.beta),
    "cauchy": Kind(("location", "scale"), ("scale",), _cauchy, stats.cauchy),
    "halfcauchy": Kind(("scale",), ("scale",), _halfcauchy, lambda scale: stats.halfcauchy(scale=scale)),
    "student_t": Kind(("df", "location", "scale"), ("df", "scale"), _student_t, stats.t),
}
"""Distributions by name. The order of their parameters is that of Stan; gamma and exponential take rates."""


@dataclass(frozen=True, eq=False)
class _IndependentPrior(Prior):
    """d independent parameters with distributions of one kind; scipy gives moments and draws."""

    distribution: Any
    """The frozen distribution of d numbers."""
    low: Array
    high: Array
    terms: Callable[..., tuple[Array, Array]]
    """-log density and its derivative, (k, d), from x and ``numbers``."""
    numbers: tuple[Any, ...]
    turns: bool = False
    """Whether the parameters are angles on [low, high); `bounds` and `potential` know no bounds then."""

    @property
    def angles(self) -> dict[int, tuple[float, float]]:
        """Ends of the intervals of angles."""
        return dict(enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True))) if self.turns else {}

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Supports other than the real line."""
        sides = enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True))
        return {index: pair for index, pair in sides if not self.turns and np.isfinite(pair).any()}

    @property
    def scale(self) -> Array:
        """Standard deviations; NaN where infinite."""
        with np.errstate(all="ignore"):
            sd = np.atleast_1d(np.asarray(self.distribution.std(), dtype=np.float64))
        return np.where(np.isfinite(sd), sd, np.nan)

    def potential(self, x: Array) -> tuple[Array, Array]:
        inside = ((x >= self.low) & (x <= self.high)) | (self.turns & np.isfinite(x))
        with np.errstate(all="ignore"):
            terms, slopes = self.terms(np.where(inside, x, np.nan), *self.numbers)
        # Where a density is infinite, at the edge of its support, it is excluded.
        good = (inside & np.isfinite(terms) & np.isfinite(slopes)).all(axis=1)
        values = np.where(good, np.where(good[:, None], terms, 0.0).sum(axis=1), np.inf)
        return values, np.where(good[:, None], slopes, 0.0)

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        return np.asarray(self.distribution.rvs(size=(n, len(self.low)), random_state=rng))


def named_prior(word: str, parameters: Array) -> _IndependentPrior:
    """The prior of d parameters of the kind ``word``, from its parameters, shape (number of these, d)."""
    kind, shape = KINDS[word], parameters.shape[1:]
    distribution = kind.frozen(*parameters)
    ends = parameters if kind.parameters == ("low", "high") else distribution.support()
    low, high = (np.broadcast_to(side, shape) for side in ends)
    return _IndependentPrior(distribution, low, high, kind.terms, tuple(parameters), kind.turns)


def frozen_prior(distribution: Any) -> _IndependentPrior:
    """The prior of one parameter from a continuous distribution of scipy.stats."""
    low, high = (np.array([float(side)]) for side in distribution.support())
    quartiles = distribution.ppf([0.25, 0.5, 0.75]).tolist()
    return _IndependentPrior(distribution, low, high, _differenced, (distribution, *quartiles))


def _differenced(x: Array, law: Any, lower: float, median: float, upper: float) -> tuple[Array, Array]:
    """-log density and central differences, with steps relative to the spread or to the distance from an end."""
    low, high = law.support()
    steps = STEP * np.maximum(np.abs(x - median), upper - lower)
    steps = np.minimum(steps, NEAR * np.minimum(np.abs(x - low), np.abs(high - x)))
    ahead, behind = (-law.logpdf(x + step) for step in (steps, -steps))
    return -law.logpdf(x), (ahead - behind) / (2.0 * steps)


def is_frozen(distribution: Any) -> bool:
    """Whether this is a frozen continuous distribution of scipy.stats."""
    return all(hasattr(distribution, name) for name in ("logpdf", "support", "rvs", "ppf", "median", "std"))


def named_numbers(name: str, distribution: tuple[Any, ...]) -> tuple[str, list[float]]:
    """Kind and parameters of a distribution such as ("normal", 0, 1), of the parameter ``name``."""
    word, *given = distribution
    if not isinstance(word, str) or word not in KINDS:
        raise ParameterError(f"prior of {name}: there is no distribution {word!r}; there are {', '.join(KINDS)}")
    kind = KINDS[word]
    form = f"({', '.join([repr(word), *kind.parameters])})"
    values = numbers(given, f"prior of {name}", f"{form} with numbers")
    if values.shape != (len(kind.parameters),) or not np.isfinite(values).all():
        raise ParameterError(f"prior of {name}: expected {form} with finite numbers, got {distribution!r}")
    for parameter, number in zip(kind.parameters, values, strict=True):
        if parameter in kind.positive and number <= 0:
            raise ParameterError(f"prior of {name}: expected a positive {parameter} in {form}, got {number:g}")
    if kind.parameters == ("low", "high") and not values[0] < values[1]:
        raise ParameterError(f"prior of {name}: expected low < high in {form}, got {distribution!r}")
    return word, values.tolist()
