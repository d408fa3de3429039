"""The squared-exponential covariance and its predictive means (paper A, section 3.3)."""

from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.surrogates.marginal_likelihood import Hyperparameters, Maximum
from rnshmc.surrogates.ridge import by_blocks
from rnshmc.surrogates.storage import Stored
from rnshmc.types import Array


def covariance(squared_distances: Array, amplitude: float, length_scale: float) -> Array:
    """K(q, q') = sigma_f^2 exp(-|q - q'|^2 / (2 l^2)) for an array of |q - q'|^2, of the same shape."""
    exponents = squared_distances * (-0.5 / length_scale**2)
    np.exp(exponents, out=exponents)
    exponents *= amplitude**2
    return exponents


def squared_exponential(x: Array, z: Array) -> Array:
    """exp(-|x - z|^2 / 2) for the rows of both, (m, n)."""
    # All three terms of the square in one product: the cost is in passes over (m, n).
    left = np.column_stack((x, -0.5 * (x**2).sum(axis=1), np.ones(len(x))))
    right = np.column_stack((z, np.ones(len(z)), -0.5 * (z**2).sum(axis=1)))
    exponents = left @ right.T
    np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents)
    return np.asarray(exponents)


def spread(points: Array) -> float:
    """Root mean square distance of the points from their mean, the unit of length scales."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


@dataclass(frozen=True, eq=False)
class KernelExpansion(Stored):
    """The predictive mean of a Gaussian process with zero prior mean, as a potential.

        mean(q) = sum_j w_j sigma_f^2 exp(-|q - c_j|^2 / (2 l^2))

    `GaussianProcess` and `FITC` differ in the centres and in how they find the weights. One evaluation costs O(M dim)
    for M centres. The arrays are private copies and read-only.
    """

    centres: Array
    """c_j, shape (M, dim)."""
    weights: Array
    """w_j, shape (M,)."""
    amplitude: float
    length_scale: float
    noise_sd: float
    """The hyperparameters sigma_f, l and sigma: standard deviation of the process, its length scale, and standard
    deviation of the noise in the training potentials."""
    log_marginal_likelihood: float
    """Of the training set at these hyperparameters; NaN where they were given."""
    likelihood_evaluations: int
    """How many evaluations of the marginal likelihood found them."""
    search: str
    """How the search ended: "converged", "max_evaluations" or "stalled", see `marginal_likelihood.maximise`; "given"
    where there was none."""
    training_states: int
    """Number of training states."""
    train_residual_sd: float
    """Standard deviation of mean(q) - U(q) over the training set."""

    @classmethod
    def from_search(cls, found: Maximum, centres: Array, weights: Array, states: Array, targets: Array) -> Self:
        """The expansion with these centres and weights at the fitted hyperparameters, with its error on the training
        set."""
        fitted = cls(
            centres=centres,
            weights=weights,
            **asdict(found.hyperparameters),
            log_marginal_likelihood=found.log_likelihood,
            likelihood_evaluations=found.evaluations,
            search=found.outcome,
            training_states=len(states),
            train_residual_sd=np.nan,
        )
        return replace(fitted, train_residual_sd=float(np.std(fitted.predict(states) - targets)))

    @property
    def hyperparameters(self) -> Hyperparameters:
        """sigma_f, l and sigma."""
        return Hyperparameters(self.amplitude, self.length_scale, self.noise_sd)

    def report(self) -> dict[str, int | float | str]:
        """Summary of the fit: every attribute that is not an array, and the number of centres."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"centres": len(numbers.pop("centres"))} | {k: v for k, v in numbers.items() if k != "weights"}

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.centres.shape[1]

    def value(self, q: Array) -> float:
        """mean(q) for q of shape (dim,)."""
        return float(self._terms(self._scaled(q)).sum())

    def gradient(self, q: Array) -> Array:
        """Gradient of the mean at q, both of shape (dim,)."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """mean(q) and its gradient, for one evaluation of the covariances."""
        x = self._scaled(q)
        terms = self._terms(x)
        value = float(terms.sum())
        gradient: Array = (self._scaled_centres @ terms - value * x) / self.length_scale
        return value, gradient

    def predict(self, q: Array) -> Array:
        """The mean at each row of q of shape (m, dim), as an array of shape (m,)."""

        def mean(rows: Array) -> Array:
            x = self._scaled(rows)
            exponents = x @ self._scaled_centres - self._half_norms - 0.5 * (x**2).sum(axis=1, keepdims=True)
            return np.asarray(np.exp(exponents) @ self._scaled_weights)

        return by_blocks(mean, q)

    # Distances are expanded for a fast matrix product. Cancellation is smallest with the origin among the centres.

    @cached_property
    def _origin(self) -> Array:
        return np.asarray(self.centres.mean(axis=0))

    @cached_property
    def _scaled_centres(self) -> Array:
        return np.ascontiguousarray((self.centres - self._origin).T / self.length_scale)

    @cached_property
    def _half_norms(self) -> Array:
        return np.asarray(0.5 * (self._scaled_centres**2).sum(axis=0))

    @cached_property
    def _scaled_weights(self) -> Array:
        return self.amplitude**2 * self.weights

    def _scaled(self, q: Array) -> Array:
        return (q - self._origin) / self.length_scale

    def _terms(self, x: Array) -> Array:
        """w_j K(q, c_j) for the scaled position x, shape (M,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            squared_norm = float(x @ x)
        if not np.isfinite(squared_norm):
            raise NumericalError(f"the Gaussian process is asked for a position of squared norm {squared_norm}")
        terms = x @ self._scaled_centres
        terms -= self._half_norms
        terms -= 0.5 * squared_norm
        np.exp(terms, out=terms)
        terms *= self._scaled_weights
        return terms
