"""A Gaussian process fitted to values and gradients of the potential, the limit of a network with many random units."""

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from rnshmc.errors import FitError, NumericalError, ParameterError
from rnshmc.surrogates.gradient_conditioning import (
    conditional_covariance,
    expand,
    factorise,
    search,
    solve,
    spread,
    squared_exponential,
)
from rnshmc.surrogates.storage import Stored
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

LENGTHS = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Candidate length scales, in units of sqrt(dim) times the spread of the training points."""
NUGGETS = (1e-9, 1e-7, 1e-5, 1e-3)
"""Candidate noise variances, in units of the variance of the process."""


@dataclass(frozen=True, eq=False)
class GradientKernel(Stored):
    """Predictive mean of a Gaussian process conditioned on values and gradients, as a potential.

        V(q) = mu + |q|^2 prior / 2 + sum_b k(q, c_b) (alpha_b + beta_b'(q - c_b) / l),  k = exp(-|q - c_b|^2 / (2 l^2))

    A process with squared-exponential covariance models the residual U(q) - |q|^2 prior / 2; with ``prior`` = 1 the
    potential is that of a standard normal density far from all points. One evaluation costs O(n dim) for n points.
    """

    centres: Array
    """Training points c_b, shape (n, dim)."""
    alpha: Array
    beta: Array
    """Weights of the values, (n,), and of the gradients, (n, dim)."""
    mean: float
    """mu, the generalised least-squares mean of the residual."""
    prior: float
    """Curvature of the quadratic that the residual is of."""
    length_scale: float
    nugget: float
    amplitude: float
    """l; the variance of the noise in units of the process's; standard deviation of the process."""
    log_likelihood: float
    """Of the training set, at the amplitude that maximises it."""
    train_residual_sd: float
    """Standard deviation of V - U over the training points."""
    errors: Array
    """Standard deviations of further errors of each value and, times l, of the components of its gradient, in units of
    the process's, (n, 2)."""

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        grad: npt.ArrayLike | None = None,
        prior: float = 0.0,
        lengths: tuple[float, ...] = LENGTHS,
        nuggets: tuple[float, ...] = NUGGETS,
        most_amplitude: float = math.inf,
        errors: Array | None = None,
        amplitude: float | None = None,
    ) -> Self:
        """Fit to potentials and their gradients.

        Parameters
        ----------
        q
            Training points, shape (n, dim).
        u
            Exact potentials, shape (n,).
        rng
            Generator of a subset of points for choosing length and noise, if there are too many.
        grad
            Exact gradients, shape (n, dim), with rows of NaN for missing ones; None for values alone.
        prior
            Curvature of the quadratic under the process, at least 0.
        lengths, nuggets
            Candidates; the marginal likelihood chooses.
        most_amplitude
            Candidates of larger amplitude are used only if there is no other. A process of large amplitude and long
            length scale is nearly a polynomial: exact among the points, and unbounded beyond them.
        errors
            Standard deviations of the errors of each value and of each component of its gradient, (n, 2), in addition
            to the common noise; None: no errors.
        amplitude
            Standard deviation of a process fitted to similar points, which saves a solve with errors; None: unknown.

        Raises
        ------
        FitError
            If the training set has the wrong shape or no candidate's system can be solved.
        ParameterError
            If ``prior`` is negative or there is no candidate.
        """
        if not prior >= 0 or not lengths or not nuggets:
            raise ParameterError(f"prior: expected at least 0, got {prior}; and at least one length and one nugget")
        points, values = training_set(q, u)
        slopes = np.full(points.shape, np.nan) if grad is None else np.asarray(grad, dtype=np.float64)
        if slopes.shape != points.shape:
            raise FitError(f"gradients have shape {slopes.shape}, the points {points.shape}")
        residuals = values - 0.5 * prior * (points**2).sum(axis=1)
        slopes = slopes - prior * points
        errors = np.zeros((len(points), 2)) if errors is None else errors
        scale = spread(points)
        if not scale > 0:
            raise FitError(f"the {len(points)} training points coincide")
        candidates = [f * scale for f in lengths]
        known = None if amplitude is None else amplitude**2
        length, nugget, known = search(
            points, residuals, slopes, candidates, nuggets, most_amplitude, rng, errors, known
        )
        solved = solve(points, residuals, slopes, length, nugget, errors, known)
        fitted = cls(
            centres=points,
            alpha=solved.alpha,
            beta=solved.beta,
            mean=solved.mean,
            prior=float(prior),
            length_scale=length,
            nugget=nugget,
            amplitude=math.sqrt(solved.variance),
            log_likelihood=solved.log_likelihood,
            train_residual_sd=float(np.std(expand(points, solved, length) - residuals)),
            errors=solved.errors,
        )
        # The most expensive part of a fit, which `covariance` would repeat.
        fitted.__dict__.update(_factor=solved.factor, _with_slopes=np.isfinite(slopes).all(axis=1))
        return fitted

    def report(self) -> dict[str, int | float | str]:
        """Summary of the fit: the number of points and every attribute that is not an array."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"points": len(self.centres)} | {k: v for k, v in numbers.items() if not isinstance(v, np.ndarray)}

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.centres.shape[1]

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of values."""
        return self.amplitude * math.sqrt(self.nugget)

    @property
    def relative_length(self) -> float:
        """The length scale in the units of the candidates of `fit`."""
        return self.length_scale / spread(self.centres)

    def value(self, q: Array) -> float:
        """V(q) for q of shape (dim,)."""
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        """Gradient of V at q. Raises as `value`."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """V(q) and its gradient. Raises as `value`."""
        with np.errstate(over="ignore", invalid="ignore"):
            values, gradients = self.values_and_gradients(q[None])
        if not (np.isfinite(values[0]) and np.isfinite(gradients).all()):
            raise NumericalError(f"the surrogate is asked for a position of squared norm {float(q @ q)}")
        return float(values[0]), gradients[0]

    def predict(self, q: Array) -> Array:
        """V at each row of q of shape (m, dim), as an array of shape (m,)."""
        return self.values_and_gradients(q)[0]

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """V at the rows of q of shape (m, dim), and its gradients: (m,) and (m, dim)."""
        x = q / self.length_scale
        kernel, weighted = self._terms(x)
        totals = weighted.sum(axis=1)
        values = self.mean + 0.5 * self.prior * (q**2).sum(axis=1) + totals
        slopes = kernel @ self.beta - x * totals[:, None] + weighted @ self._scaled
        return values, slopes / self.length_scale + self.prior * q

    def covariance(self, q: Array) -> Array:
        """Covariance of U - V at the rows of q given the training set, shape (m, m)."""
        given = conditional_covariance(self.centres, self._with_slopes, self.length_scale, self._factor, q)
        return self.amplitude**2 * given

    def mean_hessian(self, q: Array) -> Array:
        """Average of the Hessian of V over the rows of q, shape (dim, dim)."""
        x = q / self.length_scale
        kernel, weighted = self._terms(x)
        z = self._scaled
        by_point = weighted @ z
        hessian = (x * weighted.sum(axis=1)[:, None]).T @ x - x.T @ by_point - by_point.T @ x
        hessian += (z * weighted.sum(axis=0)[:, None]).T @ z - weighted.sum() * np.eye(self.dim)
        crossed = x.T @ (kernel @ self.beta) - (z * kernel.sum(axis=0)[:, None]).T @ self.beta
        hessian -= crossed + crossed.T
        mean: Array = hessian / (self.length_scale**2 * len(q)) + self.prior * np.eye(self.dim)
        return mean

    @cached_property
    def _with_slopes(self) -> npt.NDArray[np.bool_]:
        return np.asarray((self.beta != 0).any(axis=1))

    @cached_property
    def _factor(self) -> Array:
        return factorise(self.centres, self._with_slopes, self.length_scale, self.nugget, self.errors)

    @cached_property
    def _scaled(self) -> Array:
        return self.centres / self.length_scale

    @cached_property
    def _offsets(self) -> Array:
        return np.asarray(self.alpha - (self.beta * self._scaled).sum(axis=1))

    def _terms(self, x: Array) -> tuple[Array, Array]:
        """k(q, c_b), and the terms of the sum over b, for scaled positions: both (m, n)."""
        kernel = squared_exponential(x, self._scaled)
        weighted = x @ self.beta.T
        weighted += self._offsets
        weighted *= kernel
        return kernel, weighted
