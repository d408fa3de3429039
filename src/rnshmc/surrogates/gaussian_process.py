"""The full Gaussian process, the surrogate of GP-HMC (paper A, section 3.3)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.surrogates.marginal_likelihood import Hyperparameters, LogLikelihood, data_scales, maximise
from rnshmc.surrogates.squared_exponential import KernelExpansion, covariance
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

Scale = Literal["amplitude", "sd", "centred"]
"""Scaling of a Gaussian process to the potential's variation, see `GaussianProcess.fit`."""


@dataclass(frozen=True, eq=False)
class GaussianProcess(KernelExpansion):
    """Predictive mean of a zero-mean Gaussian process with squared-exponential covariance and Gaussian noise.

        mean(q) = k_q' (K_N + sigma^2 I)^-1 t

    The centres are all N training states. The arrays are private copies and read-only.
    """

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,  # noqa: ARG003
        max_evaluations: int = 100,
        hyperparameters: Hyperparameters | None = None,
        scale: Scale = "amplitude",
    ) -> Self:
        """Fit to potentials, with hyperparameters (sigma_f, l, sigma) that maximise the marginal likelihood.

        The targets are t = u - min(u), and log N(t | 0, K_N + sigma^2 I) is maximised with its exact gradient. Each
        evaluation costs O(N^3), and the fit stores three N x N matrices at a time. Raises `FitError` if the training
        set has the wrong shape or is not finite, all its states or potentials are equal, or the marginal likelihood
        cannot be evaluated at the start of the search. Raises `ParameterError` if max_evaluations is less than 1, or
        there is no such scale.

        Parameters
        ----------
        q, u
            Training states, shape (N, dim), weighted by their multiplicity, and exact potentials there, shape (N,).
        rng
            Not used: this fit is deterministic.
        max_evaluations
            Maximum evaluations of the marginal likelihood in the search.
        hyperparameters
            Known hyperparameters, such as those of an earlier fit, which replace the search.
        scale
            "amplitude": sigma_f is among the hyperparameters, and t = u - min(u). "sd": as in paper B's printed
            covariance, sigma_f is 1, t is u standardised, and the mean is multiplied by the standard deviation of u.
            "centred": sigma_f is also 1, t is u - mean(u), the search starts at l = sigma = 1, and the mean is
            multiplied by the standard deviation of u although t was not divided by it. With enough training states the
            force is then too large by that factor, sqrt(dim / 2) for the energies of a Gaussian. The latest version of
            paper B's implementation divides u by its standard deviation and multiplies the gradient by the mean of u,
            which is the same factor for the energies of N(0, I): mean and variance of a chi-square(dim) / 2 are both
            dim / 2.
        """
        if scale not in get_args(Scale):
            raise ParameterError(f"scale: expected one of {', '.join(get_args(Scale))}, got {scale!r}")
        states, targets = training_set(q, u)
        squared_distances = cdist(states, states, "sqeuclidean")
        targets, start, factor = _scaled(states, targets, scale)
        likelihood: LogLikelihood = partial(log_likelihood, squared_distances, targets)
        if scale != "amplitude":
            likelihood = partial(_at_unit_amplitude, likelihood)
        found = maximise(likelihood, start, max_evaluations=max_evaluations, known=hyperparameters)
        root = _cholesky(_noisy_covariance(squared_distances, found.hyperparameters))
        weights = factor * linalg.cho_solve((root, True), targets, check_finite=False)
        return cls.from_search(found, states, weights, states, factor * targets)


def _scaled(states: Array, targets: Array, scale: Scale) -> tuple[Array, Hyperparameters, float]:
    """The targets, the start of the search for hyperparameters, and the factor of the mean."""
    scales = data_scales(states, targets)
    if scale == "amplitude":
        return targets, scales, 1.0
    centred, sd = targets - targets.mean(), float(targets.std())
    if scale == "centred":
        return centred, Hyperparameters(1.0, 1.0, 1.0), sd
    return centred / sd, data_scales(states, centred / sd), sd


def _at_unit_amplitude(likelihood: LogLikelihood, hyperparameters: Hyperparameters) -> tuple[float, Array]:
    """A marginal likelihood of l and sigma: with a zero slope in sigma_f, the search does not change it."""
    value, gradient = likelihood(replace(hyperparameters, amplitude=1.0))
    return value, gradient * [0.0, 1.0, 1.0]


def log_likelihood(squared_distances: Array, targets: Array, hyperparameters: Hyperparameters) -> tuple[float, Array]:
    """log N(t | 0, K_N + sigma^2 I) and its gradient in (log sigma_f, log l, log sigma).

    For one Cholesky factorisation and one inverse (Rasmussen and Williams, Gaussian Processes for Machine Learning,
    2006, eqs. 5.8 and 5.9). Distances have shape (N, N), targets t (N,). Raises `scipy.linalg.LinAlgError` if K_N +
    sigma^2 I is not positive definite in doubles.
    """
    n, noise = len(targets), hyperparameters.noise_sd**2
    matrix = _noisy_covariance(squared_distances, hyperparameters)
    # K o D is dK/dlog l up to l^2. The diagonal of D is zero, so the noise in the matrix has no effect.
    stretched = matrix * squared_distances
    factor = _cholesky(matrix)
    log_determinant = 2.0 * float(log_diagonal(factor).sum())
    weights = linalg.cho_solve((factor, True), targets, check_finite=False)
    value = -0.5 * (float(targets @ weights) + log_determinant + n * np.log(2.0 * np.pi))

    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    trace = float(inverse.diagonal().sum())
    # The inverse is stored below its diagonal with zeros above, and K o D is symmetric with zero diagonal.
    stretched_trace = 2.0 * float(np.vdot(inverse.T, stretched))
    by_noise = noise * (float(weights @ weights) - trace)
    by_amplitude = float(targets @ weights) - n - by_noise
    by_length = 0.5 * (float(weights @ (stretched @ weights)) - stretched_trace) / hyperparameters.length_scale**2
    return value, np.array([by_amplitude, by_length, by_noise])


def _noisy_covariance(squared_distances: Array, hyperparameters: Hyperparameters) -> Array:
    """K_N + sigma^2 I."""
    matrix = covariance(squared_distances, hyperparameters.amplitude, hyperparameters.length_scale)
    matrix[np.diag_indices_from(matrix)] += hyperparameters.noise_sd**2
    return matrix


def _cholesky(matrix: Array) -> Array:
    """The lower factor of a symmetric matrix, with zeros above the diagonal; it overwrites the matrix."""
    # The transpose is the same matrix in LAPACK's column order, which avoids a copy.
    factor: Array
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if info != 0:
        raise linalg.LinAlgError(f"the covariance of {len(matrix)} training states is not positive definite")
    return factor
