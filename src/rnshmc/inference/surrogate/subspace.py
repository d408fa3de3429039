"""A process of the potential along some directions: along all others the density is taken as normal."""

from dataclasses import dataclass

import numpy as np

from rnshmc.surrogates.gradient_kernel import GradientKernel
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal directions, and what they leave of residual gradients.

    Attributes
    ----------
    basis
        W, shape (d, r).
    neglected
        Mean squared length of the residual gradients that W leaves at the training points. Where these are E z with a
        symmetric matrix E, half of it is the variance of z'E z / 2 over standard normal z.
    """

    basis: Array
    neglected: float

    @classmethod
    def of(cls, residuals: Array, *, most: int, small: float) -> "Subspace":
        """The fewest directions that leave ``small`` of residual gradients, (n, d), but ``most`` at most."""
        _, sizes, rows = np.linalg.svd(residuals, full_matrices=False)
        shares = sizes**2 / len(residuals)
        left = np.maximum(shares.sum() - np.cumsum(shares), 0.0)
        count = max(1, min(most, 1 + int(np.count_nonzero(left > small)), len(left)))
        return cls(np.asarray(rows[:count].T), float(left[count - 1]))

    def across(self, z: Array) -> Array:
        """(|z|^2 - |W'z|^2) / 2 of the rows of z."""
        return np.asarray(0.5 * ((z**2).sum(axis=1) - ((z @ self.basis) ** 2).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class SubspaceKernel:
    """V(z) = K(W'z) + (|z|^2 - |W'z|^2) / 2 + a constant, for whitened z.

    W has the directions in which gradients differ most from those of a standard normal density, by the singular values
    of what they differ by. Few directions of a large posterior are informed by data (Cui et al. 2014), and fewer are
    other than normal. K solves n (r + 1) equations where a process of all directions solves n (d + 1).

    Attributes
    ----------
    process
        K, in r dimensions.
    subspace
        W, and what it leaves.
    level
        The constant: `GradientKernel.fit` takes potentials up to one.
    centres
        Training points, shape (n, d).
    """

    process: GradientKernel
    subspace: Subspace
    level: float
    centres: Array

    @property
    def dim(self) -> int:
        """Dimension d."""
        return self.centres.shape[1]

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of values."""
        return self.process.noise

    @property
    def nugget(self) -> float:
        """Variance of the noise in units of the variance of the process."""
        return self.process.nugget

    @property
    def amplitude(self) -> float:
        """Standard deviation of the process."""
        return self.process.amplitude

    @property
    def relative_length(self) -> float:
        """The length scale in the unit of the candidates of `GradientKernel.fit`."""
        return self.process.relative_length

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """V at the rows of q of shape (m, d), and its gradients: (m,) and (m, d)."""
        y = q @ self.subspace.basis
        values, slopes = self.process.values_and_gradients(y)
        return self.level + values + self.subspace.across(q), q + (slopes - y) @ self.subspace.basis.T

    def covariance(self, q: Array) -> Array:
        """Covariance of U - V at the rows of q, shape (m, m); what W leaves is independent from row to row."""
        return self.process.covariance(q @ self.subspace.basis) + 0.5 * self.subspace.neglected * np.eye(len(q))

    def embedded(self, hessian: Array) -> Array:
        """The Hessian in all directions, (d, d), for one along W, (r, r)."""
        basis = self.subspace.basis
        return np.asarray(np.eye(self.dim) + basis @ (hessian - np.eye(basis.shape[1])) @ basis.T)
