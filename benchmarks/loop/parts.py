"""Parts of the covariance of a process of the potential: of distances, along each axis, and of radii.

Rows of a matrix are all values first, then all derivatives along the first axis, where there are gradients, and so on.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rnshmc.surrogates.gradient_conditioning import squared_exponential
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Given:
    """Points (n, d) of which values are given, and indices of those with gradients, (m,)."""

    points: Array
    sloped: npt.NDArray[np.intp]

    @property
    def rows(self) -> int:
        """Number of values and derivatives."""
        return len(self.points) + len(self.sloped) * self.points.shape[1]

    @cached_property
    def apart(self) -> Array:
        """Differences of points and points with gradients, along each axis: (d, n, m)."""
        return np.asarray(self.points.T[:, :, None] - self.points[self.sloped].T[:, None, :])

    @cached_property
    def radii(self) -> Array:
        """(1 + |x|^2)^(1 / 2), (n,)."""
        return radii(self.points)

    def blocks(self, matrix: Array) -> tuple[Array, Array, Array]:
        """Views: covariances of values (n, n), of values and derivatives (n, d, m), of derivatives (d, m, d, m)."""
        n, (m, d) = len(self.points), (len(self.sloped), self.points.shape[1])
        return matrix[:n, :n], matrix[:n, n:].reshape(n, d, m), matrix[n:, n:].reshape(d, m, d, m)


def radii(x: Array) -> Array:
    """(1 + |x|^2)^(1 / 2) of the rows of x."""
    return np.asarray(np.sqrt(1.0 + (x**2).sum(axis=1)))


@dataclass(frozen=True)
class Part(ABC):
    """A covariance of variance one with a length scale."""

    length: float

    @abstractmethod
    def gram(self, given: Given) -> Array:
        """Covariances of all that is given; only the upper triangle is set."""

    @abstractmethod
    def cross(self, q: Array, given: Given) -> Array:
        """Covariances of values at the rows of q, (k, d), and all that is given: (k, rows)."""

    @abstractmethod
    def prior(self, q: Array) -> Array:
        """Covariances of values at the rows of q: (k, k)."""


class Isotropic(Part):
    """exp(-|x - y|^2 / (2 l^2))."""

    def gram(self, given: Given) -> Array:
        """As `Part`."""
        matrix = np.zeros((given.rows, given.rows))
        values, mixed, slopes = given.blocks(matrix)
        values[:] = self.prior(given.points)
        kernel = values[:, given.sloped]
        weighted = given.apart * (kernel / self.length**2)
        mixed[:] = weighted.transpose(1, 0, 2)
        among = kernel[given.sloped] / self.length**2
        apart, weighted = given.apart[:, given.sloped], weighted[:, given.sloped]
        for i in range(len(apart)):
            slopes[i][:, i:] = (weighted[i:] * (-apart[i] / self.length**2)).transpose(1, 0, 2)
            slopes[i][:, i] += among
        return matrix

    def cross(self, q: Array, given: Given) -> Array:
        """As `Part`."""
        kernel = squared_exponential(q / self.length, given.points / self.length)
        some = kernel[:, given.sloped] / self.length**2
        apart = q.T[:, :, None] - given.points[given.sloped].T[:, None, :]
        return np.hstack((kernel, (some * apart).transpose(1, 0, 2).reshape(len(q), -1)))

    def prior(self, q: Array) -> Array:
        """As `Part`."""
        return squared_exponential(q / self.length, q / self.length)


class Additive(Part):
    """The mean over axes of exp(-(x_i - y_i)^2 / (2 l^2)): functions of one coordinate, as paper A's additive nodes."""

    def gram(self, given: Given) -> Array:
        """As `Part`."""
        matrix = np.zeros((given.rows, given.rows))
        values, mixed, slopes = given.blocks(matrix)
        values[:] = self.prior(given.points)
        kernel = self._along(given.apart)
        mixed[:] = (kernel * given.apart / self.length**2).transpose(1, 0, 2)
        curved = kernel[:, given.sloped] * (1.0 - (given.apart[:, given.sloped] / self.length) ** 2) / self.length**2
        for i, block in enumerate(curved):
            slopes[i][:, i] = block
        return matrix

    def cross(self, q: Array, given: Given) -> Array:
        """As `Part`."""
        values = np.zeros((len(q), len(given.points)))
        for mine, theirs in zip(q.T, given.points.T, strict=True):
            values += np.exp(-0.5 * ((mine[:, None] - theirs) / self.length) ** 2)
        apart = q.T[:, :, None] - given.points[given.sloped].T[:, None, :]
        mixed = self._along(apart) * apart / self.length**2
        return np.hstack((values / q.shape[1], mixed.transpose(1, 0, 2).reshape(len(q), -1)))

    def prior(self, q: Array) -> Array:
        """As `Part`."""
        found = np.zeros((len(q), len(q)))
        for x in q.T:
            found += np.exp(-0.5 * ((x[:, None] - x) / self.length) ** 2)
        return found / q.shape[1]

    def _along(self, apart: Array) -> Array:
        return np.asarray(np.exp(-0.5 * (apart / self.length) ** 2) / len(apart))


class Radial(Part):
    """exp(-(r - s)^2 / (2 l^2)) of r = (1 + |x|^2)^(1 / 2) and s of y: functions of the distance from the centre."""

    def gram(self, given: Given) -> Array:
        """As `Part`."""
        matrix = np.zeros((given.rows, given.rows))
        values, mixed, slopes = given.blocks(matrix)
        values[:] = self.prior(given.points)
        some = given.radii[given.sloped]
        outward = given.points[given.sloped] / some[:, None]
        apart = given.radii[:, None] - some
        kernel = values[:, given.sloped]
        mixed[:] = (kernel * apart / self.length**2)[:, None] * outward.T
        apart, kernel = apart[given.sloped], kernel[given.sloped]
        curved = kernel * (1.0 - (apart / self.length) ** 2) / self.length**2
        for i in range(outward.shape[1]):
            slopes[i][:, i:] = (curved * outward[:, i][:, None])[:, None] * outward.T[i:]
        return matrix

    def cross(self, q: Array, given: Given) -> Array:
        """As `Part`."""
        apart = radii(q)[:, None] - given.radii
        kernel = np.exp(-0.5 * (apart / self.length) ** 2)
        some = given.radii[given.sloped]
        mixed = (kernel * apart / self.length**2)[:, None, given.sloped] * (
            given.points[given.sloped] / some[:, None]
        ).T
        return np.hstack((kernel, mixed.reshape(len(q), -1)))

    def prior(self, q: Array) -> Array:
        """As `Part`."""
        r = radii(q)
        return np.asarray(np.exp(-0.5 * ((r[:, None] - r) / self.length) ** 2))
