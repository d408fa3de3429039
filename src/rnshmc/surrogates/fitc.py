"""The sparse Gaussian process with a fully independent training conditional, the surrogate of FITC-HMC.

Paper A, section 3.3; Snelson and Ghahramani, Sparse Gaussian processes using pseudo-inputs, NIPS 18 (2006).
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg.blas import dsyrk
from scipy.spatial.distance import cdist

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.surrogates.marginal_likelihood import Hyperparameters, data_scales, maximise
from rnshmc.surrogates.squared_exponential import KernelExpansion, covariance
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

# Added to the diagonal of K_M, relative to sigma_f^2. Rounding changes the eigenvalues of a smooth covariance by about
# M eps sigma_f^2, less than a hundredth of this for M = 3000 inducing points.
JITTER = 1e-10


@dataclass(frozen=True, eq=False)
class FITC(KernelExpansion):
    """Predictive mean of the FITC approximation of a Gaussian process.

        mean(q) = k_q' Sigma_M^-1 K_MN (A + sigma^2 I)^-1 t

    The centres are the M inducing points. The arrays are private copies and read-only.
    """

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        inducing_points: int | Array,
        max_evaluations: int = 100,
        hyperparameters: Hyperparameters | None = None,
    ) -> Self:
        """Draw inducing points and fit to potentials, with hyperparameters that maximise the marginal likelihood.

        If only the number of inducing points is given, they are distinct training states, drawn without replacement, or
        all distinct states if there are fewer. The targets are t = u - min(u), and log N(t | 0, Q_N + A + sigma^2 I),
        Q_N = K_NM K_M^-1 K_MN, A = diag(K_N - Q_N), is maximised over (sigma_f, l, sigma) with its exact gradient. Each
        evaluation costs O(M^2 N); no N x N matrix is formed. K_M denotes K_M + JITTER sigma_f^2 I throughout. Raises
        `FitError` if the training set has the wrong shape or is not finite, all its states or potentials are equal, or
        the marginal likelihood cannot be evaluated at the start of the search. Raises `ParameterError` if there is no
        inducing point, max_evaluations is less than 1, or the dimensions differ.

        Parameters
        ----------
        q, u, max_evaluations, hyperparameters
            As in `GaussianProcess.fit`.
        rng
            Generator of the inducing points.
        inducing_points
            Number M of inducing points, or the points themselves, shape (M, dim).
        """
        states, targets = training_set(q, u)
        inducing = _inducing(inducing_points, states, rng)
        distances = Distances(cdist(inducing, inducing, "sqeuclidean"), cdist(inducing, states, "sqeuclidean"))
        likelihood, start = partial(log_likelihood, distances, targets), data_scales(states, targets)
        found = maximise(likelihood, start, max_evaluations=max_evaluations, known=hyperparameters)
        posterior = _Posterior.of(distances, targets, found.hyperparameters)
        weights = _solve(posterior.prior_factor, posterior.mean, transposed=True)
        return cls.from_search(found, inducing, weights, states, targets)


@dataclass(frozen=True)
class Distances:
    """Squared distances between inducing points, (M, M), and from inducing points to training states, (M, N)."""

    inducing: Array
    training: Array


def log_likelihood(distances: Distances, targets: Array, hyperparameters: Hyperparameters) -> tuple[float, Array]:
    """log N(t | 0, Q_N + A + sigma^2 I) and its gradient in (log sigma_f, log l, log sigma).

    With C = Q_N + A + sigma^2 I, a = C^-1 t and G = (a a' - C^-1) / 2, the derivative is <G, dC>. In dC the matrix dQ_N
    = P' dK_MN + dK_NM P - P' dK_M P, P = K_M^-1 K_MN, stands off the diagonal only, since A replaces its diagonal by
    that of K_N. There are M inducing points and N training states, whose targets t have shape (N,). Raises
    `scipy.linalg.LinAlgError` if K_M, or A + sigma^2 I, is not positive definite in doubles.
    """
    fitted = _Posterior.of(distances, targets, hyperparameters)
    misfit = fitted.residuals @ (fitted.residuals / fitted.variances) + fitted.mean @ fitted.mean
    log_determinant = 2.0 * log_diagonal(fitted.factor).sum() + np.log(fitted.variances).sum()
    value = -0.5 * float(misfit + log_determinant + len(targets) * np.log(2.0 * np.pi))
    return value, _slopes(fitted, distances, targets, hyperparameters)


@dataclass(frozen=True)
class _Posterior:
    """The regression of targets on whitened features V = L^-1 K_MN, L L' = K_M.

    In terms of x = L' w, the weighted least-squares problem of section 3.3 minimises

        |D^-1/2 (V' x - t)|^2 + |x|^2,    D = A + sigma^2 I.

    Its matrix B = I + V D^-1 V' has no eigenvalue below 1, so its Cholesky factor is accurate even where that of
    Sigma_M = L B L' would fail (Foster et al., J. Mach. Learn. Res. 10, 2009).
    """

    prior_factor: Array  # L, shape (M, M)
    features: Array  # V, shape (M, N)
    variances: Array  # diagonal of D, shape (N,)
    factor: Array  # Cholesky factor of B, shape (M, M)
    mean: Array  # x, shape (M,)
    residuals: Array  # t - V' x, shape (N,)

    @classmethod
    def of(cls, distances: Distances, targets: Array, hyperparameters: Hyperparameters) -> Self:
        amplitude, length_scale = hyperparameters.amplitude, hyperparameters.length_scale
        prior = covariance(distances.inducing, amplitude, length_scale)
        prior[np.diag_indices_from(prior)] += JITTER * amplitude**2
        prior_factor = linalg.cholesky(prior, lower=True, overwrite_a=True, check_finite=False)
        features = _solve(prior_factor, covariance(distances.training, amplitude, length_scale))
        variances = amplitude**2 + hyperparameters.noise_sd**2 - np.einsum("ij,ij->j", features, features)
        if variances.min() <= 0:
            raise linalg.LinAlgError(f"a training state has conditional variance {variances.min()}")
        gram = dsyrk(1.0, features / np.sqrt(variances), lower=True)
        gram[np.diag_indices_from(gram)] += 1.0
        factor = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        mean = linalg.cho_solve((factor, True), features @ (targets / variances), check_finite=False)
        return cls(prior_factor, features, variances, factor, mean, targets - mean @ features)


def _slopes(fitted: _Posterior, distances: Distances, targets: Array, hyperparameters: Hyperparameters) -> Array:
    """Gradient of the log likelihood, see `log_likelihood`."""
    noise, shape = hyperparameters.noise_sd**2, (hyperparameters.amplitude, hyperparameters.length_scale)
    dual = fitted.residuals / fitted.variances
    half_solved = _solve(fitted.factor, fitted.features)
    inverse_diagonal = (1.0 - np.einsum("ij,ij->j", half_solved, half_solved) / fitted.variances) / fitted.variances
    diagonal = 0.5 * (dual**2 - inverse_diagonal)
    by_noise = 2.0 * noise * float(diagonal.sum())
    by_amplitude = float(targets @ dual) - len(targets) - by_noise

    projection = _solve(fitted.prior_factor, fitted.features, transposed=True)
    slope = 2.0 * covariance(distances.training, *shape) * distances.training
    slope -= (covariance(distances.inducing, *shape) * distances.inducing) @ projection
    # P times G without its diagonal, apart from the rank-one part of a a'.
    weighted = _solve(fitted.factor, half_solved, transposed=True) * (-0.5 / fitted.variances)
    weighted -= fitted.features * diagonal
    weighted = _solve(fitted.prior_factor, weighted, transposed=True)
    by_length = float(np.vdot(weighted, slope) + 0.5 * (projection @ dual) @ (slope @ dual))
    return np.array([by_amplitude, by_length / hyperparameters.length_scale**2, by_noise])


def _inducing(points: int | Array, states: Array, rng: np.random.Generator) -> Array:
    """The inducing points, drawn from the states if only their number is given."""
    if not isinstance(points, np.ndarray):
        if points < 1:
            raise ParameterError(f"inducing_points must be at least 1, got {points!r}")
        return _distinct(states, points, rng)
    if points.ndim != 2 or points.shape[1] != states.shape[1] or not len(points):
        raise ParameterError(
            f"inducing_points: expected at least one row of {states.shape[1]} coordinates, got shape {points.shape}"
        )
    return points


def _distinct(states: Array, count: int, rng: np.random.Generator) -> Array:
    """At most ``count`` distinct states, in the order of the training set."""
    _, first = np.unique(states, axis=0, return_index=True)
    if len(first) > count:
        first = rng.choice(first, count, replace=False)
    chosen: Array = states[np.sort(first)]
    return chosen


def _solve(factor: Array, right_side: Array, *, transposed: bool = False) -> Array:
    solution: Array = linalg.solve_triangular(
        factor, right_side, lower=True, trans="T" if transposed else "N", check_finite=False
    )
    return solution
