"""Small potentials whose moments are known."""

import zlib

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.types import Array


class Base:
    dim: int

    def value(self, q: Array) -> float:
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        raise NotImplementedError


class Correlated(Base):
    """N(mean, covariance) with condition number 1e4, in units far from one."""

    def __init__(self, dim: int = 5) -> None:
        self.dim = dim
        basis = np.linalg.qr(np.random.default_rng(1).standard_normal((dim, dim)))[0]
        self.covariance = 1e-4 * (basis * np.logspace(0, 4, dim)) @ basis.T
        self.mean = np.arange(dim) - 3.0
        self._precision: Array = np.linalg.inv(self.covariance)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        slope = self._precision @ (q - self.mean)
        return 0.5 * float((q - self.mean) @ slope), slope


class LogGamma(Base):
    """Logarithms of independent Gamma(3) variables: skewed. Means 0.9228, variances 0.3949."""

    shape, mean, variance = 3.0, 0.9227843350984671, 0.39493406684822646

    def __init__(self, dim: int = 3) -> None:
        self.dim = dim

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore"):
            x = np.exp(q)
        if not np.isfinite(x).all():
            raise NumericalError("overflow")
        return float((x - self.shape * q).sum()), x - self.shape


class Banana(Base):
    """x_1 of N(0, 1), x_2 of N(x_1^2, 1)."""

    dim = 2
    mean, variance = np.array([0.0, 1.0]), np.array([1.0, 3.0])

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        bend = q[1] - q[0] ** 2
        return 0.5 * float(q[0] ** 2 + bend**2), np.array([q[0] - 2.0 * q[0] * bend, bend])


class Student(Base):
    """Three independent variables of Student's t, of five degrees of freedom."""

    dim = 3
    mean, variance = np.zeros(3), np.full(3, 5.0 / 3.0)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        rest = 1.0 + q**2 / 5.0
        return 3.0 * float(np.log(rest).sum()), 6.0 / 5.0 * q / rest


class Modes(Base):
    """Two normal densities of unit variance, 12 apart."""

    dim = 2

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        centres = np.array([[-6.0, 0.0], [6.0, 0.0]])
        exponents = -0.5 * ((q - centres) ** 2).sum(axis=1)
        top = exponents.max()
        weights = np.exp(exponents - top)
        return -float(top + np.log(weights.sum())), (weights / weights.sum()) @ (q - centres)


class Flat(Base):
    """Normal in x_1, and the same whatever x_2 is: no posterior at all."""

    dim = 2

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return 0.5 * float(q[0] ** 2), np.array([q[0], 0.0])


class Cliff(Base):
    """N(0, I) where x_1 > 0, and nothing elsewhere: mean of x_1 sqrt(2 / pi)."""

    dim = 3

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if q[0] <= 0:
            return np.inf, np.zeros(3)
        return 0.5 * float(q @ q), q


class Noisy(Base):
    """N(0, I) with noise of standard deviation 0.3 in values, the same at the same position."""

    dim = 3

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        noise = np.random.default_rng(zlib.crc32(q.tobytes())).standard_normal()
        return 0.5 * float(q @ q) + 0.3 * float(noise), q


class Raising(Base):
    """N(0, I) that cannot be evaluated in one of ten positions."""

    dim = 4

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if np.abs(q).max() > 0 and int(1e6 * np.abs(q).sum()) % 10 == 0:
            raise NumericalError("the solver did not converge")
        return 0.5 * float(q @ q), q


class Wide(Base):
    """N(0, diag) in 200 dimensions."""

    dim = 200

    def __init__(self) -> None:
        self.variances = np.logspace(-1, 1, self.dim)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return 0.5 * float(q @ (q / self.variances)), q / self.variances


class Twisted(Base):
    """N(0, diag(100, 1, ..., 1)) in ten dimensions, bent along a parabola (Haario et al. 1999)."""

    dim = 10

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        across = q[1] + 0.1 * (q[0] ** 2 - 100.0)
        gradient = q.copy()
        gradient[:2] = q[0] / 100.0 + 0.2 * q[0] * across, across
        return 0.5 * float(q[0] ** 2 / 100.0 + across**2 + q[2:] @ q[2:]), gradient
