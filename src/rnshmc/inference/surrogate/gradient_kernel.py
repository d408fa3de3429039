"""A Gaussian process fitted to values and gradients of the potential, the limit of a network with many random units."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.surrogate.covariance_search import likeliest, search
from rnshmc.inference.surrogate.gradient_conditioning import Solution, conditional_covariance, solve
from rnshmc.inference.surrogate.ridges import NONE, PriorMean, RidgeFunctions, Ridges
from rnshmc.surrogates.squared_exponential import spread, squared_exponential
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

LENGTHS = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Candidate length scales, in units of sqrt(dim) times the spread of the training points."""
NUGGETS = (1e-9, 1e-7, 1e-5, 1e-3)
"""Candidate noise variances, in units of the variance of the process."""


@dataclass(frozen=True, eq=False)
class GradientKernel:
    """Predictive mean of a Gaussian process conditioned on values and gradients, as a potential.

        V(q) = mu + m(q) + sum_b k(q, c_b) (alpha_b + beta_b'(q - c_b) / l),  k = exp(-|q - c_b|^2 / (2 l^2))

    A process with squared-exponential covariance models the residual U(q) - m(q) of a `PriorMean` m. With `Ridges`,
    functions of one variable add to the process and to V. One evaluation costs O(n dim) for n points.
    """

    centres: Array
    """Training points c_b, shape (n, dim)."""
    solution: Solution
    """alpha, beta and mu, and the amplitude, the process's standard deviation."""
    prior: PriorMean
    """m."""
    length_scale: float
    nugget: float
    """l; the variance of the noise in units of the process's."""
    ridges: Ridges = NONE
    """The other parts of the covariance."""

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
        like: "GradientKernel | None" = None,
        parts: bool = False,
    ) -> Self:
        """Fit to potentials and their gradients.

        The n training points q, (n, dim), have exact potentials, (n,), and gradients, (n, dim), missing ones as rows of
        NaN. ``prior``, at least 0, is the curvature of the prior mean. ``errors``, (n, 2), are standard deviations of
        the errors of each value and of each component of its gradient, in addition to the common noise. ``like`` is a
        process fitted to similar points, whose covariance is taken. Otherwise, with ``parts``, `likeliest` chooses
        `Ridges`, and the prior mean grows linearly beyond sqrt(dim); without them, it is quadratic.

        The marginal likelihood chooses among ``lengths`` and ``nuggets``, at points drawn by ``rng`` if there are too
        many. Candidates of an amplitude above ``most_amplitude`` are used only if there is no other: a process of large
        amplitude and long length scale is nearly a polynomial, exact among the points, and unbounded beyond them.
        Raises `FitError` if the training set has the wrong shape, all points coincide, or no candidate's system can be
        solved.
        """
        points, values = training_set(q, u)
        errors = np.zeros((len(points), 2)) if errors is None else errors
        scale = spread(points)
        if not scale > 0:
            raise FitError(f"the {len(points)} training points coincide")
        mean, ridges, known = PriorMean(prior, math.sqrt(points.shape[1]) if parts else math.inf), NONE, None
        if like is not None:
            lengths, nuggets = (like.relative_length,), (like.nugget,)
            mean, ridges, known = like.prior, like.ridges, like.solution.variance
        expected, rises = mean.values_and_gradients(points)
        residuals, slopes = values - expected, grad - rises
        if parts and like is None:
            ridges = likeliest(points, residuals, slopes, lengths, nuggets[0], most_amplitude, errors)
        candidates = [f * scale for f in lengths]
        length, nugget, known = search(
            points, residuals, slopes, candidates, nuggets, most_amplitude, rng, errors, known, ridges
        )
        solution = solve(points, residuals, slopes, length, nugget, errors, known, ridges)
        return cls(np.array(points, order="C"), solution, mean, length, nugget, ridges)

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
        expected, rises = self.prior.values_and_gradients(q)
        values = self.solution.mean + expected + totals
        slopes = kernel @ self.solution.beta - x * totals[:, None] + weighted @ self._scaled
        more, steeper = self._functions.values_and_gradients(q)
        return values + more, slopes / self.length_scale + rises + steeper

    def covariance(self, q: Array) -> Array:
        """Covariance of U - V at the rows of q given the training set, shape (m, m)."""
        with_slopes, factor = self.solution.with_slopes, self.solution.factor
        return self.amplitude**2 * conditional_covariance(
            self.centres, with_slopes, self.length_scale, factor, q, self.ridges
        )

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
        mean: Array = hessian / (self.length_scale**2 * len(q)) + self.prior.mean_hessian(q)
        return mean + self._functions.mean_hessian(q)

    @cached_property
    def _scaled(self) -> Array:
        return self.centres / self.length_scale

    @cached_property
    def _functions(self) -> RidgeFunctions:
        solution = self.solution
        return RidgeFunctions.of(self.ridges, self.centres, solution.alpha, solution.beta * self.length_scale)

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
