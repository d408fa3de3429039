"""Posteriors that independent draws can be made of: bent ones, long tails, a hierarchy, several modes."""

import numpy as np
from scipy.special import digamma, logsumexp, polygamma, softmax

from rnshmc.errors import NumericalError
from rnshmc.types import Array

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
"""Of coaching in eight schools, and their standard errors (Rubin 1981)."""


class Law:
    """A potential by its value and gradient together."""

    dim: int

    def value(self, q: Array) -> float:
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws, shape (n, dim)."""
        raise NotImplementedError


class KnownMoments(Law):
    """A law whose means and variances have closed forms: (dim,), or one number for all coordinates."""

    mean: Array | float
    variance: Array | float


class TwistedGaussian(KnownMoments):
    """N(0, diag(100, 1, ..., 1)) with x_2 bent along a parabola (Haario, Saksman, Tamminen 1999), as a potential.

    U(x) = x_1^2 / 200 + (x_2 + b x_1^2 - 100 b)^2 / 2 + sum_{k > 2} x_k^2 / 2
    """

    def __init__(self, dim: int = 10, bend: float = 0.1) -> None:
        self.dim = dim
        self.mean, self.variance = 0.0, np.array([100.0, 1.0 + 20000.0 * bend**2, *[1.0] * (dim - 2)])
        self._bend = bend

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        across = q[1] + self._bend * (q[0] ** 2 - 100.0)
        gradient = q.copy()
        gradient[:2] = q[0] / 100.0 + 2.0 * self._bend * q[0] * across, across
        return float(q[0] ** 2 / 200.0 + 0.5 * (across**2 + q[2:] @ q[2:])), gradient

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws = rng.standard_normal((n, self.dim))
        draws[:, 0] *= 10.0
        draws[:, 1] -= self._bend * (draws[:, 0] ** 2 - 100.0)
        return draws


class Funnel(KnownMoments):
    """v ~ N(0, 9), x_k ~ N(0, exp(v)) given v (Neal 2003), as a potential of (v, x_1, ..., x_{dim - 1})."""

    def __init__(self, dim: int = 6) -> None:
        self.dim = dim
        self.mean, self.variance = 0.0, np.array([9.0, *[np.exp(4.5)] * (dim - 1)])

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        v, x = q[0], q[1:]
        with np.errstate(over="ignore"):
            precision = np.exp(-v)
            squares = 0.5 * precision * (x @ x)
        if not np.isfinite(squares):
            raise NumericalError("the potential of the funnel overflows")
        half = 0.5 * len(x)
        return float(v**2 / 18.0 + half * v + squares), np.concatenate(([v / 9.0 + half - squares], precision * x))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws = rng.standard_normal((n, self.dim))
        draws[:, 0] *= 3.0
        draws[:, 1:] *= np.exp(0.5 * draws[:, :1])
        return draws


class Contaminated(KnownMoments):
    """(1 - share) N(0, I) + share N(0, width^2 I)."""

    mean = 0.0

    def __init__(self, share: float, width: float, dim: int) -> None:
        self.dim, self.variance = dim, 1.0 - share + share * width**2
        self._share, self._width = share, width
        self._precisions = np.array([1.0, width**-2])
        self._logs = np.log([1.0 - share, share]) + 0.5 * dim * np.log(self._precisions / (2.0 * np.pi))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        wide = rng.uniform(size=(n, 1)) < self._share
        return np.asarray(rng.standard_normal((n, self.dim)) * np.where(wide, self._width, 1.0))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        logs = self._logs - 0.5 * self._precisions * (q @ q)
        weights = np.exp(logs - logs.max())
        total = weights.sum()
        return -float(logs.max() + np.log(total)), (weights @ self._precisions / total) * q


class Funnels(KnownMoments):
    """Independent funnels: v ~ N(0, sd^2), and x_k ~ N(0, exp(v)) given v for its followers, and so on."""

    mean = 0.0

    def __init__(self, sd: float, followers: tuple[int, ...]) -> None:
        ends = np.cumsum([1 + count for count in followers])
        self.dim, self._sd = int(ends[-1]), sd
        self._parts = [slice(end - count - 1, end) for end, count in zip(ends, followers, strict=True)]
        self.variance = np.full(self.dim, np.exp(0.5 * sd**2))
        self.variance[[part.start for part in self._parts]] = sd**2

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws = rng.standard_normal((n, self.dim))
        for part in self._parts:
            driver = draws[:, part.start] * self._sd
            draws[:, part] *= np.exp(0.5 * driver)[:, None]
            draws[:, part.start] = driver
        return draws

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        total, gradient = 0.0, np.empty_like(q)
        for part in self._parts:
            v, x = q[part][0], q[part][1:]
            if abs(v) > 300.0:
                raise NumericalError("the potential of a funnel overflows")
            half, squares = 0.5 * len(x), 0.5 * np.exp(-v) * (x @ x)
            total += 0.5 * (v / self._sd) ** 2 + half * v + squares
            gradient[part] = v / self._sd**2 + half - squares, *(np.exp(-v) * x)
        return float(total), gradient


class Banana(KnownMoments):
    """x_1 ~ N(0, 1), x_2 ~ N(x_1^2, 1) given x_1: the mild bend of the documentation."""

    dim = 2
    mean, variance = np.array([0.0, 1.0]), np.array([1.0, 3.0])

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        across = q[1] - q[0] ** 2
        return 0.5 * float(q[0] ** 2 + across**2), np.array([q[0] - 2.0 * q[0] * across, across])

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws = rng.standard_normal((n, 2))
        draws[:, 1] += draws[:, 0] ** 2
        return draws


class Student(KnownMoments):
    """Independent variables of Student's t with five degrees of freedom."""

    degrees = 5.0
    mean, variance = 0.0, degrees / (degrees - 2.0)

    def __init__(self, dim: int = 3) -> None:
        self.dim = dim

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        rest = 1.0 + q**2 / self.degrees
        half = 0.5 * (self.degrees + 1.0)
        return half * float(np.log(rest).sum()), 2.0 * half / self.degrees * q / rest

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_t(self.degrees, size=(n, self.dim))


class LogGamma(KnownMoments):
    """Logarithms of independent Gamma(3) variables: skewed."""

    shape = 3.0
    mean, variance = float(digamma(shape)), float(polygamma(1, shape))

    def __init__(self, dim: int = 3) -> None:
        self.dim = dim

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore"):
            x = np.exp(q)
        if not np.isfinite(x).all():
            raise NumericalError("overflow")
        return float((x - self.shape * q).sum()), x - self.shape

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        return np.asarray(np.log(rng.gamma(self.shape, size=(n, self.dim))))


class EightSchools(Law):
    """Effects theta_j ~ N(mu, tau^2) seen with known errors; mu ~ N(0, 25), tau half-Cauchy(0, 5) (posteriordb).

    Coordinates: theta_j, or (theta_j - mu) / tau where not ``centred``; then mu and log tau.
    """

    dim = 10

    def __init__(self, *, centred: bool) -> None:
        self._centred = centred

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        effects, mu, log_tau = q[:8], q[8], q[9]
        if abs(log_tau) > 300.0:
            raise NumericalError("tau overflows")
        tau = np.exp(log_tau)
        theta = effects if self._centred else mu + tau * effects
        scores = (effects - mu) / tau if self._centred else effects
        data = (theta - EFFECTS) / ERRORS**2
        if self._centred:
            slopes = data + scores / tau
            of_mu, of_tau, constant = -scores.sum() / tau, 8.0 - scores @ scores, 8.0 * log_tau
        else:
            slopes = tau * data + scores
            of_mu, of_tau, constant = data.sum(), tau * (data @ effects), 0.0
        ratio = tau**2 / 25.0
        value = 0.5 * (((theta - EFFECTS) / ERRORS) @ ((theta - EFFECTS) / ERRORS) + scores @ scores + mu**2 / 25.0)
        gradient = np.concatenate((slopes, [of_mu + mu / 25.0, of_tau + 2.0 * ratio / (1.0 + ratio) - 1.0]))
        return float(value + constant + np.log1p(ratio) - log_tau), gradient

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """tau by its density given the data on a fine grid, then mu and the effects, which are normal given tau."""
        grid = np.linspace(-15.0, 8.0, 20001)
        spread = ERRORS**2 + np.exp(2.0 * grid)[:, None]
        precision, weighted = (1.0 / spread).sum(axis=1) + 0.04, (EFFECTS / spread).sum(axis=1)
        logs = 0.5 * (weighted**2 / precision - np.log(precision) - (np.log(spread) + EFFECTS**2 / spread).sum(axis=1))
        cells = rng.choice(len(grid), size=n, p=softmax(logs + grid - np.log1p(np.exp(2.0 * grid) / 25.0)))
        log_tau = grid[cells] + (grid[1] - grid[0]) * (rng.random(n) - 0.5)
        mu = weighted[cells] / precision[cells] + rng.standard_normal(n) / np.sqrt(precision[cells])
        tau = np.exp(log_tau)[:, None]
        shrunk = 1.0 / (1.0 / ERRORS**2 + tau**-2)
        theta = shrunk * (EFFECTS / ERRORS**2 + mu[:, None] / tau**2) + np.sqrt(shrunk) * rng.standard_normal((n, 8))
        effects = theta if self._centred else (theta - mu[:, None]) / tau
        return np.column_stack((effects, mu, log_tau))


class NormalMixture(Law):
    """Normal densities with shares, means (k, dim) and standard deviations, normalised."""

    def __init__(self, shares: Array, means: Array, sds: Array) -> None:
        self.dim = means.shape[1]
        self._shares, self._means, self._sds = shares, means, sds

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        away = (q - self._means) / self._sds[:, None]
        constants = np.log(self._shares) - self.dim * np.log(self._sds * np.sqrt(2.0 * np.pi))
        logs = constants - 0.5 * (away**2).sum(axis=1)
        return -float(logsumexp(logs)), np.asarray(softmax(logs) @ (away / self._sds[:, None]))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        which = rng.choice(len(self._shares), size=n, p=self._shares)
        return np.asarray(self._means[which] + self._sds[which, None] * rng.standard_normal((n, self.dim)))


def two_normals() -> NormalMixture:
    """In 10 dimensions, 8 standard deviations apart, a third of the mass in one of them."""
    return NormalMixture(np.array([2.0, 1.0]) / 3.0, np.outer([-4.0, 4.0], np.eye(10)[0]), np.ones(2))


def three_normals() -> NormalMixture:
    """In 5 dimensions, of unequal widths and shares, 8 apart."""
    means = 8.0 * np.vstack([np.zeros(5), np.eye(5)[:2]])
    return NormalMixture(np.array([0.5, 0.2, 0.3]), means, np.array([1.0, 0.7, 1.4]))
