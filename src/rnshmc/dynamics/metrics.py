"""Metrics: how momentum is drawn, turned into velocity and priced as kinetic energy (paper A, section 2.1)."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.linalg

from rnshmc.errors import ParameterError
from rnshmc.types import Array


class Metric(Protocol):
    """A constant mass matrix M."""

    def sample_momentum(self, rng: np.random.Generator, dim: int) -> Array:
        """Draw p ~ N(0, M), shape (dim,)."""
        ...

    def velocity(self, p: Array) -> Array:
        """M^-1 p."""
        ...

    def kinetic_energy(self, p: Array) -> float:
        """p' M^-1 p / 2."""
        ...


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
    """M as a dense symmetric positive definite matrix, such as the Hessian of U at the mode.

    Parameters
    ----------
    mass
        Mass matrix, shape (dim, dim).

    Raises
    ------
    ParameterError
        If ``mass`` is not a symmetric positive definite matrix.
    """

    mass: Array
    _chol: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mass = np.asarray(self.mass, dtype=float)
        if mass.ndim != 2 or mass.shape[0] != mass.shape[1]:
            raise ParameterError(f"mass: expected a square matrix, got shape {mass.shape}")
        if not np.allclose(mass, mass.T, rtol=1e-8, atol=0.0):
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
        return np.asarray(scipy.linalg.cho_solve((self._chol, True), p, check_finite=False))

    def kinetic_energy(self, p: Array) -> float:
        """p' M^-1 p / 2."""
        return 0.5 * float(p @ self.velocity(p))
