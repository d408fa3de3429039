"""A Gaussian process for many outputs of one model, which share a kernel matrix over the runs."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import linalg
from scipy.spatial import distance

from rnshmc.surrogates.output_likelihood import BROAD, Covariance, chosen
from rnshmc.surrogates.squared_exponential import squared_exponential
from rnshmc.types import Array

SAME = 1e-9
"""Distance, in units of the spread of the runs, within which inputs equal those of a run up to rounding."""


@dataclass(frozen=True, eq=False)
class OutputKernel:
    """Predictive means of Gaussian processes, one per output, with a common covariance of the inputs.

        E_i(w) = sum_b k(w, c_b) alpha_bi

    Outputs are thought of as a matrix-normal process: Cov(F_i(w), F_j(w')) = Sigma_ij k(w, w'). The broad linear part
    of k (`Covariance`) makes E exact for linear models, whatever their scale (O'Hagan 1978). One evaluation costs
    O(n m).
    """

    centres: Array
    """Inputs of the runs c_b, shape (n, dim)."""
    alpha: Array
    """Weights, shape (n, m)."""
    covariances: Covariance
    """k, and the noise."""
    factor: Array
    """Lower Cholesky factor of the kernel matrix, (n, n)."""
    roots: Array
    """A root of Sigma, shape (m, r): Sigma = roots roots'."""
    level: Array
    """Subtracted from outputs, shape (m,): their mean where the broad constant is not broad enough for it, else
    zero."""

    @classmethod
    def fit(cls, inputs: Array, outputs: Array, *, units: Array, like: Self | None = None) -> Self:
        """Fit to runs.

        The runs have ``inputs``, (n, dim), and finite ``outputs``, (n, m). ``units``, (m,), are sizes of relevant
        differences, which weight the outputs in the likelihood that chooses length scales and noise; with ``like``, an
        earlier fit in the same coordinates, its covariance is reused. Raises `FitError` if there are fewer than two
        distinct inputs, or no system can be solved.
        """
        level = _level(outputs, units)
        outputs = outputs - level
        covariances = chosen(inputs, outputs / units) if like is None else like.covariances
        factor = covariances.factor(inputs)
        half = linalg.solve_triangular(factor, outputs, lower=True, check_finite=False)
        alpha = linalg.solve_triangular(factor, half, lower=True, trans="T", check_finite=False)
        # The linear part uses as many degrees of freedom as it has terms.
        free = max(1, len(inputs) - inputs.shape[1] - 1)
        return cls(inputs, alpha, covariances, factor, half.T / math.sqrt(free), level)

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return self.centres.shape[1]

    def predict(self, w: Array) -> tuple[Array, Array]:
        """Outputs at the rows of w, shape (k, m), and the local part of the kernel there, (k, n), for `pulled_back`."""
        scaled = w / self.covariances.lengths
        local = squared_exponential(scaled, self._scaled)
        curved = local + self.covariances.quadratic * (scaled @ self._scaled.T) ** 2
        constant, slopes = self._linear
        return curved @ self.alpha + constant + w @ slopes + self.level, local

    def pulled_back(self, w: Array, local: Array, slopes: Array) -> Array:
        """Gradients by w, (k, dim), of functions of the outputs, from their gradients by the outputs, (k, m)."""
        felt = slopes @ self.alpha.T
        weighted, scaled = local * felt, w / self.covariances.lengths
        inward = weighted @ self._scaled - scaled * weighted.sum(axis=1)[:, None]
        outward = 2.0 * self.covariances.quadratic * ((scaled @ self._scaled.T) * felt) @ self._scaled
        return np.asarray((inward + outward) / self.covariances.lengths + slopes @ self._linear[1].T)

    def covariance(self, w: Array) -> Array:
        """k(w, w') given the runs, at the rows of w: shape (k, k)."""
        cross = self.covariances.between(self.centres, w)
        explained = linalg.solve_triangular(self.factor, cross, lower=True, check_finite=False)
        return np.asarray(self.covariances.between(w, w) - explained.T @ explained)

    def held_out(self, w: Array) -> tuple[Array, Array]:
        """Change of the prediction at each row of w if its run is left out, (k, m), and the variance without that run.

        At rows without a run, zero and the variance given all runs. Variances, (k,), are in units of the process's and
        include the noise.
        """
        apart = distance.cdist(w, self.centres)
        nearest = apart.argmin(axis=1)
        noise = self.covariances.nugget
        is_run = apart[np.arange(len(w)), nearest] < SAME * self.covariances.scale
        added = np.where(is_run[:, None], noise * self.alpha[nearest] - self.left_out[nearest], 0.0)
        return added, np.where(is_run, self._left_out_variances[nearest], self.variances(w) + noise)

    def variances(self, w: Array) -> Array:
        """The diagonal of `covariance`, (k,)."""
        cross = self.covariances.between(self.centres, w)
        explained = linalg.solve_triangular(self.factor, cross, lower=True, check_finite=False)
        return np.asarray(np.maximum(self.covariances.variances(w) - (explained**2).sum(axis=0), 0.0))

    @cached_property
    def fitted(self) -> Array:
        """Outputs of the runs, (n, m)."""
        return np.asarray(self.factor @ (self.factor.T @ self.alpha) + self.level)

    @cached_property
    def left_out(self) -> Array:
        """Leave-one-out residuals of each run's outputs, (n, m) (Dubrule 1983)."""
        return self._left_out_variances[:, None] * self.alpha

    @cached_property
    def _left_out_variances(self) -> Array:
        """Leave-one-out variances with noise in units of the process's, (n,), from the inverse's diagonal."""
        inverse = linalg.solve_triangular(self.factor, np.eye(len(self.factor)), lower=True, check_finite=False)
        return np.asarray(1.0 / (inverse**2).sum(axis=0))

    @cached_property
    def _scaled(self) -> Array:
        return self.centres / self.covariances.lengths

    @cached_property
    def _linear(self) -> tuple[Array, Array]:
        """Constant (m,) and slopes (dim, m) of the linear part."""
        return BROAD * self.alpha.sum(axis=0), BROAD / self.covariances.scale**2 * self.centres.T @ self.alpha


def _level(outputs: Array, units: Array) -> Array:
    """The mean of outputs, (m,), where it exceeds their spread by more than the broad constant allows; else zero."""
    mean = outputs.mean(axis=0)
    spread = np.linalg.norm((outputs - mean) / units) / math.sqrt(len(outputs))
    return mean if np.linalg.norm(mean / units) > math.sqrt(BROAD) * spread else np.zeros(len(mean))
