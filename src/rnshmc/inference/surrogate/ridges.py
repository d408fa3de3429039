"""Functions of one variable, as parts of a process: of a coordinate (paper A's additive nodes), or of the radius."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline

from rnshmc.types import Array

NODES = 12
"""Nodes of a table in a length: its interpolation is off by 1e-6 of a function's size."""
MARGIN = 7.0
"""Lengths beyond all points at which the tables end: a covariance of 2e-11 is left there."""


@dataclass(frozen=True)
class Ridge:
    """A process f(t) with covariance w exp(-(t - s)^2 / (2 l^2)), where t is a coordinate or (1 + |q|^2)^(1 / 2)."""

    weight: float
    length: float
    """w and l."""
    axis: int | None
    """The coordinate; None for the radius."""

    def variable(self, q: Array) -> Array:
        """T at the rows of q: (n,)."""
        return q[:, self.axis] if self.axis is not None else np.sqrt(1.0 + (q**2).sum(axis=1))

    def outward(self, q: Array) -> tuple[slice, Array]:
        """The k coordinates that t depends on, and its derivatives along them, (n, k)."""
        if self.axis is not None:
            return slice(self.axis, self.axis + 1), np.ones((len(q), 1))
        return slice(0, q.shape[1]), q / self.variable(q)[:, None]

    def kernel(self, q: Array, c: Array) -> tuple[Array, Array]:
        """Covariance of f at the rows of q and of c, and (t - s) / l: both (m, n)."""
        apart = (self.variable(q)[:, None] - self.variable(c)) / self.length
        return self.weight * np.exp(-0.5 * apart**2), apart

    def function(self, centres: Array, alpha: Array, slopes: Array) -> CubicHermiteSpline:
        """Sum over b of alpha_b k(t, t_b) and its derivatives along c_b times ``slopes``, (n, d), as a table."""
        t, (along, outward) = self.variable(centres), self.outward(centres)
        beta = (slopes[:, along] * outward).sum(axis=1) / self.length
        low, high = t.min() - MARGIN * self.length, t.max() + MARGIN * self.length
        nodes = np.linspace(low, high, int(NODES * (high - low) / self.length) + 2)
        apart = (nodes[:, None] - t) / self.length
        kernel = self.weight * np.exp(-0.5 * apart**2)
        inner = alpha + apart * beta
        values, rises = (kernel * inner).sum(axis=1), (kernel * (beta - apart * inner)).sum(axis=1) / self.length
        return CubicHermiteSpline(nodes, values, rises)


@dataclass(frozen=True)
class Ridges:
    """Weights and lengths of an additive part, the mean over coordinates, and of a radial one; None for no part.

    A weight is a variance in units of the isotropic part's. The rows of a covariance are in the order of
    `factorise`, and gradients are times ``unit``.
    """

    additive: tuple[float, float] | None = None
    radial: tuple[float, float] | None = None

    @property
    def weight(self) -> float:
        """Variance of both parts."""
        return sum(part[0] for part in (self.additive, self.radial) if part is not None)

    @property
    def parameters(self) -> int:
        """Number of weights and lengths."""
        return 2 * sum(part is not None for part in (self.additive, self.radial))

    def each(self, dim: int) -> Iterator[Ridge]:
        """The functions of one variable."""
        if self.additive is not None:
            yield from (Ridge(self.additive[0] / dim, self.additive[1], axis) for axis in range(dim))
        if self.radial is not None:
            yield Ridge(*self.radial, None)

    def add_gram(self, matrix: Array, points: Array, with_slopes: npt.NDArray[np.bool_], unit: float) -> None:
        """Add the covariance of values and gradients to the upper triangle of a matrix."""
        (n, dim), m = points.shape, int(with_slopes.sum())
        values, mixed = matrix[:n, :n], matrix[:n, n:].reshape(n, dim, m)
        for ridge in self.each(dim):
            kernel, apart = ridge.kernel(points, points)
            along, outward = ridge.outward(points[with_slopes])
            outward = outward * (unit / ridge.length)
            values += kernel
            mixed[:, along] += (kernel * apart)[:, None, with_slopes] * outward.T
            kernel, apart = (one[np.ix_(with_slopes, with_slopes)] for one in (kernel, apart))
            curved = kernel * (1.0 - apart**2)
            for i, column in enumerate(outward.T, along.start):
                slopes = matrix[n + i * m : n + (i + 1) * m, n:].reshape(m, dim, m)[:, i : along.stop]
                slopes += (curved * column[:, None])[:, None] * outward.T[i - along.start :]

    def add_cross(
        self, matrix: Array, points: Array, with_slopes: npt.NDArray[np.bool_], q: Array, unit: float
    ) -> None:
        """Add the covariance of values and gradients at points with values at the rows of q to (rows, m)."""
        n, dim = points.shape
        slopes = matrix[n:].reshape(dim, -1, len(q))
        for ridge in self.each(dim):
            kernel, apart = ridge.kernel(points, q)
            along, outward = ridge.outward(points[with_slopes])
            matrix[:n] += kernel
            slopes[along] -= (kernel * apart)[with_slopes] * (outward.T * (unit / ridge.length))[:, :, None]

    def covariance(self, q: Array) -> Array | float:
        """Covariance at the rows of q, (m, m)."""
        return sum(ridge.kernel(q, q)[0] for ridge in self.each(q.shape[1]))


NONE = Ridges()


@dataclass(frozen=True, eq=False)
class RidgeFunctions:
    """The predictive means of `Ridges`, a table for each function."""

    functions: tuple[tuple[Ridge, CubicHermiteSpline], ...]

    @classmethod
    def of(cls, ridges: Ridges, centres: Array, alpha: Array, slopes: Array) -> "RidgeFunctions":
        """From the weights of values (n,), and of gradients, (n, d), at the centres."""
        each = ridges.each(centres.shape[1])
        return cls(tuple((ridge, ridge.function(centres, alpha, slopes)) for ridge in each))

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """Their sum at the rows of q, and its gradients: (m,) and (m, d)."""
        values, gradients = np.zeros(len(q)), np.zeros(q.shape)
        for ridge, table in self.functions:
            t, (along, outward) = _within(ridge.variable(q), table), ridge.outward(q)
            values += table(t)
            gradients[:, along] += table(t, 1)[:, None] * outward
        return values, gradients

    def mean_hessian(self, q: Array) -> Array:
        """Average of the Hessian over the rows of q, shape (d, d)."""
        m, dim = q.shape
        hessian = np.zeros((dim, dim))
        for ridge, table in self.functions:
            t, (along, outward) = _within(ridge.variable(q), table), ridge.outward(q)
            hessian[along, along] += (outward * table(t, 2)[:, None]).T @ outward
            if ridge.axis is None:
                across = table(t, 1) / t
                hessian += across.sum() * np.eye(dim) - (outward * across[:, None]).T @ outward
        return hessian / m


def _within(t: Array, table: CubicHermiteSpline) -> Array:
    """Variables no farther out than the table, at whose ends a function is nearly zero."""
    return np.clip(t, table.x[0], table.x[-1])


@dataclass(frozen=True)
class PriorMean:
    """kappa c^2 ((1 + |q|^2 / c^2)^(1 / 2) - 1): of curvature kappa at the origin, and linear far beyond c.

    Where no point is near, the process returns to it. A tail that is too long is drawn from, and learnt; one that is
    too short is never seen.
    """

    curvature: float
    tail: float = math.inf
    """Kappa, and c: infinity for a quadratic."""

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """At the rows of q: (m,) and (m, d)."""
        squares = (q**2).sum(axis=1)
        if self.tail == math.inf:
            return 0.5 * self.curvature * squares, self.curvature * q
        root = np.sqrt(1.0 + squares / self.tail**2)
        return self.curvature * squares / (1.0 + root), self.curvature * q / root[:, None]

    def mean_hessian(self, q: Array) -> Array:
        """Average of the Hessian over the rows of q, shape (d, d)."""
        root = np.sqrt(1.0 + (q**2).sum(axis=1) / self.tail**2)
        outward = q / (self.tail * root[:, None])
        hessian = np.eye(q.shape[1]) * (1.0 / root).mean() - (outward / root[:, None]).T @ outward / len(q)
        return np.asarray(self.curvature * hessian)
