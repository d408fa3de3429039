"""Laws with exact moments and independent draws: skewed, heavy, bent and bounded ones, a hierarchy, several modes."""

import numpy as np
from scipy.special import betaln, digamma, gammaln, log_ndtr, polygamma

from rnshmc.errors import NumericalError
from rnshmc.types import Array


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


LOG_ROOT = 0.5 * float(np.log(2.0 * np.pi))
"""log of the integral of exp(-x^2 / 2)."""


class KnownMoments(Law):
    """A law with closed forms of its integral, means and variances; these (dim,), or one number for all coordinates."""

    mean: Array | float
    variance: Array | float
    log_evidence: float = 0.0
    """log of the integral of exp(-U)."""


class TwistedGaussian(KnownMoments):
    """N(0, diag(100, 1, ..., 1)) with x_2 bent along a parabola (Haario, Saksman, Tamminen 1999), as a potential.

    U(x) = x_1^2 / 200 + (x_2 + b x_1^2 - 100 b)^2 / 2 + sum_{k > 2} x_k^2 / 2
    """

    def __init__(self, dim: int = 10, bend: float = 0.1) -> None:
        self.dim = dim
        self.mean, self.variance = 0.0, np.array([100.0, 1.0 + 20000.0 * bend**2, *[1.0] * (dim - 2)])
        self.log_evidence = dim * LOG_ROOT + float(np.log(10.0))
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
        self.log_evidence = dim * LOG_ROOT + float(np.log(3.0))

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
        self.log_evidence = self.dim * LOG_ROOT + len(followers) * float(np.log(sd))

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
    mean, variance, log_evidence = np.array([0.0, 1.0]), np.array([1.0, 3.0]), 2.0 * LOG_ROOT

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
        self.dim, half = dim, 0.5 * self.degrees
        self.log_evidence = dim * float(0.5 * np.log(np.pi * self.degrees) + gammaln(half) - gammaln(half + 0.5))

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
        self.dim, self.log_evidence = dim, dim * float(gammaln(self.shape))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore"):
            x = np.exp(q)
        if not np.isfinite(x).all():
            raise NumericalError("overflow")
        return float((x - self.shape * q).sum()), x - self.shape

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        return np.asarray(np.log(rng.gamma(self.shape, size=(n, self.dim))))


class SkewNormal(KnownMoments):
    """Independent variables of density 2 phi(x) Phi(shape x) (Azzalini 1985)."""

    shape = 3.0
    mean = float(np.sqrt(2.0 / np.pi)) * shape / float(np.hypot(1.0, shape))
    variance = 1.0 - mean**2

    def __init__(self, dim: int = 3) -> None:
        self.dim, self.log_evidence = dim, dim * (LOG_ROOT - float(np.log(2.0)))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        logs = log_ndtr(self.shape * q)
        ratio = np.exp(-0.5 * (self.shape * q) ** 2 - LOG_ROOT - logs)
        return float((0.5 * q**2 - logs).sum()), q - self.shape * ratio

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws, other = rng.standard_normal((2, n, self.dim))
        return np.where(other < self.shape * draws, draws, -draws)


class Logistic(KnownMoments):
    """Independent logistic variables: tails of exp(-|x|)."""

    mean, variance = 0.0, np.pi**2 / 3.0

    def __init__(self, dim: int = 3) -> None:
        self.dim = dim

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return float((q + 2.0 * np.logaddexp(0.0, -q)).sum()), np.tanh(0.5 * q)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        return rng.logistic(size=(n, self.dim))


class GammaBeta(KnownMoments):
    """x_1 ~ Gamma(3), x_2 ~ Beta(2, 5): one positive, the other between 0 and 1."""

    dim = 2
    mean, variance = np.array([3.0, 2.0 / 7.0]), np.array([3.0, 10.0 / 392.0])
    log_evidence = float(gammaln(3.0) + betaln(2.0, 5.0))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if not (q[0] > 0.0 and 0.0 < q[1] < 1.0):
            return np.inf, np.zeros(2)
        value = q[0] - 2.0 * np.log(q[0]) - np.log(q[1]) - 4.0 * np.log1p(-q[1])
        return float(value), np.array([1.0 - 2.0 / q[0], 4.0 / (1.0 - q[1]) - 1.0 / q[1]])

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        return np.column_stack((rng.gamma(3.0, size=n), rng.beta(2.0, 5.0, size=n)))


class NormalMixture(KnownMoments):
    """Normal densities with shares, means (k, dim) and standard deviations, normalised."""

    def __init__(self, shares: Array, means: Array, sds: Array) -> None:
        self.dim = means.shape[1]
        self.mean = shares @ means
        self.variance = shares @ ((means - self.mean) ** 2 + sds[:, None] ** 2)
        self._shares, self._means, self._sds = shares, means, sds

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        away = (q - self._means) / self._sds[:, None]
        constants = np.log(self._shares) - self.dim * np.log(self._sds * np.sqrt(2.0 * np.pi))
        logs = constants - 0.5 * (away**2).sum(axis=1)
        weights = np.exp(logs - logs.max())
        total = weights.sum()
        return -float(logs.max() + np.log(total)), np.asarray(weights @ (away / self._sds[:, None]) / total)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        which = rng.choice(len(self._shares), size=n, p=self._shares)
        return np.asarray(self._means[which] + self._sds[which, None] * rng.standard_normal((n, self.dim)))


def two_normals() -> NormalMixture:
    """In 10 dimensions, 8 standard deviations apart, a third of the mass in one of them."""
    return NormalMixture(np.array([2.0, 1.0]) / 3.0, np.outer([-4.0, 4.0], np.eye(10)[0]), np.ones(2))


def close_normals() -> NormalMixture:
    """In 5 dimensions, 4.4 standard deviations apart."""
    return NormalMixture(np.full(2, 0.5), np.outer([0.0, 4.4], np.eye(5)[0]), np.ones(2))


def three_normals() -> NormalMixture:
    """In 5 dimensions, of unequal widths and shares, 8 apart."""
    means = 8.0 * np.vstack([np.zeros(5), np.eye(5)[:2]])
    return NormalMixture(np.array([0.5, 0.2, 0.3]), means, np.array([1.0, 0.7, 1.4]))
