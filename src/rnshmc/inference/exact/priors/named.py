"""Independent priors by the name of a distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.distributions import LOG_ROOT_2PI
from rnshmc.inference.given import numbers
from rnshmc.types import Array


@dataclass(frozen=True)
class Kind:
    """A distribution of one number with parameters.

    Attributes
    ----------
    parameters
        Their names, in order.
    positive
        Names of those that have to be positive.
    terms
        -log density and its derivative, from x and the parameters, all of shapes that broadcast.
    frozen
        The same distribution in scipy, for its support, moments and draws.
    """

    parameters: tuple[str, ...]
    positive: tuple[str, ...]
    terms: Callable[..., tuple[Array, Array]]
    frozen: Callable[..., Any]


def _normal(x: Array, mean: Array, sd: Array) -> tuple[Array, Array]:
    z = (x - mean) / sd
    return 0.5 * z**2 + np.log(sd) + LOG_ROOT_2PI, z / sd


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
    normaliser = 0.5 * np.log(df) + betaln(0.5 * df, 0.5) + np.log(scale)
    return 0.5 * (df + 1.0) * np.log1p(z**2 / df) + normaliser, (df + 1.0) * z / (df + z**2) / scale


def _cauchy(x: Array, location: Array, scale: Array) -> tuple[Array, Array]:
    return _student_t(x, np.ones(()), location, scale)


def _halfcauchy(x: Array, scale: Array) -> tuple[Array, Array]:
    return _folded(_cauchy(x, np.zeros(()), scale))


def _folded(terms: tuple[Array, Array]) -> tuple[Array, Array]:
    """The terms of the positive half of a density that is symmetric about 0."""
    return terms[0] - np.log(2.0), terms[1]


KINDS = {
    "normal": Kind(("mean", "sd"), ("sd",), _normal, stats.norm),
    "lognormal": Kind(("mu", "sigma"), ("sigma",), _lognormal, lambda mu, s: stats.lognorm(s, scale=np.exp(mu))),
    "uniform": Kind(("low", "high"), (), _uniform, lambda low, high: stats.uniform(low, high - low)),
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
class NamedPrior:
    """Independent parameters with distributions of one kind.

    Attributes
    ----------
    word
        Name of the kind.
    numbers
        Its parameters for each of the d parameters of the posterior, shape (parameters of the kind, d).
    """

    word: str
    numbers: Array

    @property
    def kind(self) -> Kind:
        """The kind."""
        return KINDS[self.word]

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Supports that are not the whole line."""
        sides = enumerate(zip(*(side.tolist() for side in self._support), strict=True))
        return {index: pair for index, pair in sides if np.isfinite(pair).any()}

    @property
    def centre(self) -> Array:
        """Means; medians where there is no mean."""
        return centre_of(self._scipy)

    @property
    def scale(self) -> Array:
        """Standard deviations; NaN where infinite."""
        return scale_of(self._scipy)

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density and gradient."""
        low, high = self._support
        inside = (x >= low) & (x <= high)
        with np.errstate(all="ignore"):
            terms, slopes = self.kind.terms(np.where(inside, x, np.nan), *self.numbers)
        # A density that is infinite on the edge of its support is excluded there, too.
        good = (inside & np.isfinite(terms) & np.isfinite(slopes)).all(axis=1)
        values = np.where(good, np.where(good[:, None], terms, 0.0).sum(axis=1), np.inf)
        return values, np.where(good[:, None], slopes, 0.0)

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws."""
        return np.asarray(self._scipy.rvs(size=(n, self.numbers.shape[1]), random_state=rng))

    @cached_property
    def _scipy(self) -> Any:
        return self.kind.frozen(*self.numbers)

    @cached_property
    def _support(self) -> tuple[Array, Array]:
        if self.kind.parameters == ("low", "high"):
            return self.numbers[0], self.numbers[1]
        low, high = (np.broadcast_to(side, self.numbers.shape[1:]) for side in self._scipy.support())
        return low, high


def named_numbers(name: str, distribution: tuple[Any, ...]) -> tuple[str, list[float]]:
    """Kind and parameters of a distribution such as ("normal", 0, 1), of the parameter ``name``.

    Raises
    ------
    ParameterError
        If there is no such distribution, or its parameters cannot be used.
    """
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


def centre_of(distribution: Any) -> Array:
    """Means of a distribution of scipy; medians where there is no mean."""
    with np.errstate(all="ignore"):
        mean = np.atleast_1d(np.asarray(distribution.mean(), dtype=np.float64))
        return np.where(np.isfinite(mean), mean, distribution.median())


def scale_of(distribution: Any) -> Array:
    """Standard deviations of a distribution of scipy; NaN where infinite."""
    with np.errstate(all="ignore"):
        sd = np.atleast_1d(np.asarray(distribution.std(), dtype=np.float64))
    return np.where(np.isfinite(sd), sd, np.nan)
