"""Small potentials whose moments are known."""

import zlib

import numpy as np
from peers.known_laws import KnownMoments, Law, NormalMixture
from scipy.special import digamma, polygamma

from rnshmc.errors import NumericalError
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.random import stream
from rnshmc.types import Array


class Correlated(KnownMoments):
    """N(mean, covariance) with condition number 1e4, in units far from one."""

    def __init__(self, dim: int = 5) -> None:
        self.dim = dim
        basis = np.linalg.qr(np.random.default_rng(1).standard_normal((dim, dim)))[0]
        self.covariance = 1e-4 * (basis * np.logspace(0, 4, dim)) @ basis.T
        self.mean, self.variance = np.arange(dim) - 3.0, self.covariance.diagonal()
        self.log_evidence = 0.5 * float(np.linalg.slogdet(2.0 * np.pi * self.covariance)[1])
        self._precision: Array = np.linalg.inv(self.covariance)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        slope = self._precision @ (q - self.mean)
        return 0.5 * float((q - self.mean) @ slope), slope


def two_modes() -> NormalMixture:
    """Two normal densities of unit variance, 12 apart."""
    return NormalMixture(np.full(2, 0.5), np.array([[-6.0, 0.0], [6.0, 0.0]]), np.ones(2))


class Flat(Law):
    """Normal in x_1, and the same whatever x_2 is: no posterior at all."""

    dim = 2

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return 0.5 * float(q[0] ** 2), np.array([q[0], 0.0])


class Cliff(Law):
    """N(0, I) where x_1 > 0, and nothing elsewhere: mean of x_1 sqrt(2 / pi)."""

    dim = 3

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if q[0] <= 0:
            return np.inf, np.zeros(3)
        return 0.5 * float(q @ q), q


class Noisy(Law):
    """N(0, I) with noise of standard deviation 0.3 in values, the same at the same position."""

    dim = 3

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        noise = np.random.default_rng(zlib.crc32(q.tobytes())).standard_normal()
        return 0.5 * float(q @ q) + 0.3 * float(noise), q


class Raising(Law):
    """N(0, I) that cannot be evaluated in one of ten positions."""

    dim = 4

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if np.abs(q).max() > 0 and int(1e6 * np.abs(q).sum()) % 10 == 0:
            raise NumericalError("the solver did not converge")
        return 0.5 * float(q @ q), q


class Wide(Law):
    """N(0, diag) in 200 dimensions."""

    dim = 200

    def __init__(self) -> None:
        self.variances = np.logspace(-1, 1, self.dim)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return 0.5 * float(q @ (q / self.variances)), q / self.variances


class LogGammaInside(KnownMoments):
    """Independent log-gamma variables in some random orthonormal directions, normal ones in all others."""

    shape = 5.0

    def __init__(self, dim: int, inside: int) -> None:
        self.dim = dim
        self.basis = np.linalg.qr(stream(7, "inside", str(dim)).standard_normal((dim, dim)))[0][:, :inside]
        shares = (self.basis**2).sum(axis=1)
        self.mean = self.basis.sum(axis=1) * float(digamma(self.shape))
        self.variance = 1.0 - shares + shares * float(polygamma(1, self.shape))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        y = q @ self.basis
        value = 0.5 * float(q @ q - y @ y) + float((np.exp(y) - self.shape * y).sum())
        return value, q + (np.exp(y) - self.shape - y) @ self.basis.T

    @property
    def whitening(self) -> Whitening:
        """By the covariance along each direction."""
        covariance = np.eye(self.dim) + (float(polygamma(1, self.shape)) - 1.0) * self.basis @ self.basis.T
        return Whitening(np.asarray(self.mean), np.linalg.cholesky(np.linalg.inv(covariance)))
