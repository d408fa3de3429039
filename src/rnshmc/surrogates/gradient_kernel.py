"""A Gaussian process fitted to values and gradients of the potential, the limit of a network with many random units."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from rnshmc.errors import FitError
from rnshmc.surrogates.gradient_conditioning import (
    Solution,
    conditional_covariance,
    search,
    solve,
    spread,
    squared_exponential,
)
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

LENGTHS = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Candidate length scales, in units of sqrt(dim) times the spread of the training points."""
NUGGETS = (1e-9, 1e-7, 1e-5, 1e-3)
"""Candidate noise variances, in units of the variance of the process."""


@dataclass(frozen=True, eq=False)
class GradientKernel:
    """Predictive mean of a Gaussian process conditioned on values and gradients, as a potential.

        V(q) = mu + |q|^2 prior / 2 + sum_b k(q, c_b) (alpha_b + beta_b'(q - c_b) / l),  k = exp(-|q - c_b|^2 / (2 l^2))

    A process with squared-exponential covariance models the residual U(q) - |q|^2 prior / 2; with ``prior`` = 1 the
    potential is that of a standard normal density far from all points. One evaluation costs O(n dim) for n points.
    """

    centres: Array
    """Training points c_b, shape (n, dim)."""
    solution: Solution
    """alpha, beta and mu, and the amplitude, the process's standard deviation."""
    prior: float
    """Curvature of the quadratic that the residual is of."""
    length_scale: float
    nugget: float
    """l; the variance of the noise in units of the process's."""

    @classmethod
    def fit(
        cls,
        q: Array,
        u: Array,
        *,
        rng: np.random.Generator,
        grad: Array,
        prior: float = 0.0,
        lengths: tuple[float, ...] = LENGTHS,
        nuggets: tuple[float, ...] = NUGGETS,
        most_amplitude: float = math.inf,
        errors: Array | None = None,
        amplitude: float | None = None,
    ) -> Self:
        """Fit to potentials and their gradients.

        The n training points q, (n, dim), have exact potentials, (n,), and gradients, (n, dim), missing ones as rows of
        NaN. ``prior``, at least 0, is the curvature of the quadratic under the process. ``errors``, (n, 2), are
        standard deviations of the errors of each value and of each component of its gradient, in addition to the common
        noise. ``amplitude`` is the standard deviation of a process fitted to similar points, which saves a solve with
        errors.

        The marginal likelihood chooses among ``lengths`` and ``nuggets``, at points drawn by ``rng`` if there are too
        many. Candidates of an amplitude above ``most_amplitude`` are used only if there is no other: a process of large
        amplitude and long length scale is nearly a polynomial, exact among the points, and unbounded beyond them.
        Raises `FitError` if the training set has the wrong shape, all points coincide, or no candidate's system can be
        solved.
        """
        points, values = training_set(q, u)
        residuals = values - 0.5 * prior * (points**2).sum(axis=1)
        slopes = grad - prior * points
        errors = np.zeros((len(points), 2)) if errors is None else errors
        scale = spread(points)
        if not scale > 0:
            raise FitError(f"the {len(points)} training points coincide")
        candidates = [f * scale for f in lengths]
        known = None if amplitude is None else amplitude**2
        length, nugget, known = search(
            points, residuals, slopes, candidates, nuggets, most_amplitude, rng, errors, known
        )
        solution = solve(points, residuals, slopes, length, nugget, errors, known)
        return cls(np.array(points, order="C"), solution, float(prior), length, nugget)

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.centres.shape[1]

    @property
    def amplitude(self) -> float:
        """Standard deviation of the process."""
        return math.sqrt(self.solution.variance)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of values."""
        return self.amplitude * math.sqrt(self.nugget)

    @property
    def relative_length(self) -> float:
        """The length scale in the units of the candidates of `fit`."""
        return self.length_scale / spread(self.centres)

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """V at the rows of q of shape (m, dim), and its gradients: (m,) and (m, dim)."""
        x = q / self.length_scale
        kernel, weighted = self._terms(x)
        totals = weighted.sum(axis=1)
        values = self.solution.mean + 0.5 * self.prior * (q**2).sum(axis=1) + totals
        slopes = kernel @ self.solution.beta - x * totals[:, None] + weighted @ self._scaled
        return values, slopes / self.length_scale + self.prior * q

    def covariance(self, q: Array) -> Array:
        """Covariance of U - V at the rows of q given the training set, shape (m, m)."""
        with_slopes, factor = self.solution.with_slopes, self.solution.factor
        return self.amplitude**2 * conditional_covariance(self.centres, with_slopes, self.length_scale, factor, q)

    def mean_hessian(self, q: Array) -> Array:
        """Average of the Hessian of V over the rows of q, shape (dim, dim)."""
        x, beta = q / self.length_scale, self.solution.beta
        kernel, weighted = self._terms(x)
        z = self._scaled
        by_point = weighted @ z
        hessian = (x * weighted.sum(axis=1)[:, None]).T @ x - x.T @ by_point - by_point.T @ x
        hessian += (z * weighted.sum(axis=0)[:, None]).T @ z - weighted.sum() * np.eye(self.dim)
        crossed = x.T @ (kernel @ beta) - (z * kernel.sum(axis=0)[:, None]).T @ beta
        hessian -= crossed + crossed.T
        mean: Array = hessian / (self.length_scale**2 * len(q)) + self.prior * np.eye(self.dim)
        return mean

    @cached_property
    def _scaled(self) -> Array:
        return self.centres / self.length_scale

    @cached_property
    def _offsets(self) -> Array:
        return np.asarray(self.solution.alpha - (self.solution.beta * self._scaled).sum(axis=1))

    def _terms(self, x: Array) -> tuple[Array, Array]:
        """k(q, c_b), and the terms of the sum over b, for scaled positions: both (m, n)."""
        kernel = squared_exponential(x, self._scaled)
        weighted = x @ self.solution.beta.T
        weighted += self._offsets
        weighted *= kernel
        return kernel, weighted
