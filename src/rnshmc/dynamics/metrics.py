"""Metrics: distribution of the momentum, velocity and kinetic energy (paper A, section 2.1)."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.types import Array


@dataclass(frozen=True)
class IdentityMetric:
    """M = I, the metric of every Euclidean sampler in paper A."""

    def sample_momentum(self, rng: np.random.Generator, dim: int) -> Array:
        """Draw p ~ N(0, I), shape (dim,)."""
        return rng.standard_normal(dim)

    def velocity(self, p: Array) -> Array:
        """The momentum itself."""
        return p

    def kinetic_energy(self, p: Array) -> float:
        """p'p / 2."""
        return 0.5 * float(p @ p)


@dataclass(frozen=True)
class DenseMetric:
    """M as a dense matrix, shape (dim, dim), such as the Hessian of U at the mode.

    Raises `ParameterError` if ``mass`` is not a symmetric positive definite matrix.
    """

    mass: Array
    _chol: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mass = np.asarray(self.mass, dtype=float)
        if mass.ndim != 2 or mass.shape[0] != mass.shape[1]:
            raise ParameterError(f"mass: expected a square matrix, got shape {mass.shape}")
        # Relative to the largest entry: rounding breaks the symmetry of small ones.
        if not np.abs(mass - mass.T).max(initial=0.0) <= 1e-8 * np.abs(mass).max(initial=0.0):
            raise ParameterError("mass: the matrix is not symmetric")
        try:
            chol = scipy.linalg.cholesky(mass, lower=True)
        except (scipy.linalg.LinAlgError, ValueError) as error:
            raise ParameterError(f"mass: the matrix is not positive definite ({error})") from error
        object.__setattr__(self, "_chol", chol)

    def sample_momentum(self, rng: np.random.Generator, dim: int) -> Array:
        """Draw p = L z with M = L L', z ~ N(0, I), shape (dim,)."""
        return np.asarray(self._chol @ rng.standard_normal(dim))

    def velocity(self, p: Array) -> Array:
        """M^-1 p by two triangular solves."""
        # The routine behind scipy.linalg.cho_solve, whose checks take longer than the solves.
        solution, _ = scipy.linalg.lapack.dpotrs(self._chol, p, lower=1)
        return np.asarray(solution)

    def kinetic_energy(self, p: Array) -> float:
        """p' M^-1 p / 2."""
        return 0.5 * float(p @ self.velocity(p))

    @property
    def log_det(self) -> float:
        """log det M."""
        return 2.0 * float(log_diagonal(self._chol).sum())

    @property
    def inverse_factor(self) -> Array:
        """F with F F' = M^-1 for `rnshmc.types.RiemannianDriver.metric_vjp`: L^-T, shape (dim, dim)."""
        identity = np.eye(len(self._chol))
        return np.asarray(scipy.linalg.solve_triangular(self._chol, identity, lower=True, trans="T"))

    def length(self, displacement: Array) -> float:
        """sqrt(v' M v) = |L'v| of a displacement v: its length in local units."""
        return float(np.linalg.norm(displacement @ self._chol))


@dataclass(frozen=True)
class DiagonalMetric:
    """M as a diagonal matrix, given by its diagonal, shape (dim,).

    Raises `ParameterError` if ``diagonal`` is not a vector of positive numbers.
    """

    diagonal: Array
    _sd: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        diagonal = np.asarray(self.diagonal, dtype=float)
        if diagonal.ndim != 1 or not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            raise ParameterError("mass: the diagonal is not a vector of positive numbers")
        object.__setattr__(self, "_sd", np.sqrt(diagonal))

    def sample_momentum(self, rng: np.random.Generator, dim: int) -> Array:
        """Draw p ~ N(0, M), shape (dim,)."""
        return self._sd * rng.standard_normal(dim)

    def velocity(self, p: Array) -> Array:
        """M^-1 p."""
        return p / self.diagonal

    def kinetic_energy(self, p: Array) -> float:
        """p' M^-1 p / 2."""
        return 0.5 * float(p @ self.velocity(p))

    @property
    def log_det(self) -> float:
        """log det M."""
        return float(np.sum(np.log(self.diagonal)))

    @property
    def inverse_factor(self) -> Array:
        """The column 1 / sd, shape (dim, 1): a diagonal metric uses only the diagonal of F F'."""
        return (1.0 / self._sd)[:, None]

    def length(self, displacement: Array) -> float:
        """sqrt(v' M v)."""
        return float(np.linalg.norm(self._sd * displacement))


LocalMetric = DenseMetric | DiagonalMetric
"""The mass matrix M = G(q) at one point of a Riemannian manifold (paper A, section 2.2)."""
Metric = IdentityMetric | LocalMetric
"""A mass matrix M."""


def local_metric(mass: Array) -> LocalMetric:
    """The metric with mass matrix ``mass``, (dim, dim) or the diagonal (dim,), at a point of a trajectory.

    Raises `NumericalError` if it is not positive definite: the proposal is to be rejected.
    """
    try:
        return DenseMetric(mass) if mass.ndim == 2 else DiagonalMetric(mass)
    except ParameterError as error:
        raise NumericalError(str(error)) from error
