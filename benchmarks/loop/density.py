"""A process of the potential, conditioned on values and gradients: in all directions, or in those that need one."""

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from loop.parts import Additive, Given, Isotropic, Part, Radial, radii
from loop.tables import Table
from loop.tuning import Covariances
from scipy import linalg
from scipy.linalg import lapack

from rnshmc.errors import FitError
from rnshmc.surrogates.gradient_conditioning import squared_exponential
from rnshmc.types import Array

SLOPE = 1.0
"""Of the prior mean far out, in units of sqrt(r)."""
ROUNDS = 2
"""Systems solved where points have errors of their own, each relative to the variance of the process by the last."""


@dataclass(frozen=True)
class Covariance:
    """Weights and lengths of the parts, in units of the isotropic one's variance, and the variance of noise.

    A weight of 0 leaves a part out.
    """

    isotropic: float
    additive: tuple[float, float] = (0.0, 1.0)
    radial: tuple[float, float] = (0.0, 1.0)
    nugget: float = 1e-7

    @property
    def parts(self) -> list[tuple[float, Part]]:
        """Weights and parts."""
        found: list[tuple[float, Part]] = [(1.0, Isotropic(self.isotropic))]
        for kind, (weight, length) in ((Additive, self.additive), (Radial, self.radial)):
            if weight > 0.0:
                found.append((weight, kind(length)))
        return found


def mean(y: Array) -> tuple[Array, Array]:
    """c^2 ((1 + |y|^2 / c^2)^(1 / 2) - 1) at the rows of y, and its gradients: a normal density with exponential tails.

    Far from all points the process returns to it. A tail that is too long is drawn from, and learnt; one that is too
    short is never seen.
    """
    c = SLOPE * math.sqrt(y.shape[1])
    root = np.sqrt(1.0 + (y**2).sum(axis=1) / c**2)
    return c**2 * (root - 1.0), y / root[:, None]


@dataclass(frozen=True, eq=False)
class Residuals:
    """Values (n,) and gradients (m, r) of U less its prior mean at points, with sds of errors, (n,) and (m,)."""

    given: Given
    values: Array
    slopes: Array
    errors: Array
    slope_errors: Array

    @cached_property
    def targets(self) -> Array:
        """All of them as rows."""
        return np.concatenate((self.values, self.slopes.T.ravel()))

    @cached_property
    def variances(self) -> Array:
        """Of the errors of all rows."""
        return np.concatenate((self.errors, np.tile(self.slope_errors, self.slopes.shape[1]))) ** 2

    @cached_property
    def constant(self) -> Array:
        """1 for values and 0 for derivatives."""
        return np.repeat([1.0, 0.0], [len(self.values), self.slopes.size])

    def some(self, chosen: Array) -> "Residuals":
        """At some of the points, by a mask."""
        kept = np.flatnonzero(chosen)
        with_slope = chosen[self.given.sloped]
        sloped = np.searchsorted(kept, self.given.sloped[with_slope])
        given = Given(self.given.points[kept], sloped)
        return Residuals(
            given, self.values[kept], self.slopes[with_slope], self.errors[kept], self.slope_errors[with_slope]
        )


@dataclass(frozen=True, eq=False)
class _Solved:
    """A conditioned process: weights of all rows, generalised least-squares mean, variance, log likelihood, factor."""

    weights: Array
    mean: float
    variance: float
    log_likelihood: float
    factor: Array
    of_constant: Array


def solve(residuals: Residuals, gram: Array, nugget: float, variance: float | None = None) -> _Solved:
    """Condition a process with a covariance matrix, (rows, rows), of which the upper triangle is set.

    Raises
    ------
    FitError
        If the matrix is not positive definite in doubles.
    """
    if variance is None:
        variance = float(np.var(residuals.values)) or 1.0
    targets, constant, rows = residuals.targets, residuals.constant, len(residuals.targets)
    for _ in range(ROUNDS if residuals.variances.any() else 1):
        matrix = gram.copy()
        matrix[np.diag_indices_from(matrix)] += nugget + residuals.variances / variance
        # The lower triangle of the transpose, in the column order of LAPACK, so that nothing is copied.
        factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            raise FitError(f"the covariance of {len(residuals.values)} training points is not positive definite")
        solved = linalg.cho_solve((factor, True), np.column_stack((targets, constant)), check_finite=False)
        precision = float(constant @ solved[:, 1])
        mean = float(constant @ solved[:, 0]) / precision
        weights = solved[:, 0] - mean * solved[:, 1]
        variance = max(float((targets - mean * constant) @ weights) / rows, float(np.finfo(float).tiny))
    log_likelihood = -0.5 * rows * math.log(variance) - float(np.log(factor.diagonal()).sum())
    return _Solved(weights, mean, variance, log_likelihood, factor, solved[:, 1])


def likeliest(
    residuals: Residuals, tuning: Covariances, rng: np.random.Generator, like: Covariance | None
) -> Covariance:
    """The covariance of the largest marginal likelihood, one part after the other.

    Of more points than `Covariances.rows` hold, some are left out.

    Parameters
    ----------
    like
        Where the search begins; None: with an isotropic part alone.
    """
    n, dim = residuals.given.points.shape
    most = int(n * tuning.rows / residuals.given.rows)
    if most < n:
        chosen = np.zeros(n, dtype=bool)
        chosen[rng.choice(n, max(most, 2), replace=False)] = True
        residuals = residuals.some(chosen)
    grams: dict[Part, Array] = {}

    @cache
    def height(covariance: Covariance) -> float:
        total = np.zeros((residuals.given.rows, residuals.given.rows))
        for weight, part in covariance.parts:
            if part not in grams:
                grams[part] = part.gram(residuals.given)
            total += weight * grams[part]
        try:
            return solve(residuals, total, covariance.nugget).log_likelihood
        except FitError:
            return -math.inf

    best, before = like or Covariance(tuning.lengths[2] * math.sqrt(dim)), None
    while best != before:
        before = best
        for part in ("isotropic", "additive", "radial", "nugget"):
            best = max((best, *(one for one in _options(best, part, dim, tuning) if one != best)), key=height)
    return best


def _options(now: Covariance, part: str, dim: int, tuning: Covariances) -> list[Covariance]:
    """Covariances with another length, weight and length, or nugget of a part."""
    if part == "isotropic":
        return [replace(now, isotropic=length * math.sqrt(dim)) for length in tuning.lengths]
    if part == "nugget":
        return [replace(now, nugget=nugget) for nugget in tuning.nuggets]
    pairs = [(0.0, 1.0), *((weight, length) for weight in tuning.weights for length in tuning.axis_lengths)]
    # Of one variable, the isotropic part is additive.
    additive = part == "additive"
    return [replace(now, additive=pair) if additive else replace(now, radial=pair) for pair in pairs if dim > 1]


@dataclass(frozen=True, eq=False)
class DensityEmulator:
    """V(z) = |z|^2 / 2 + m + f(W'z) for whitened z, with the mean of a process f given values and gradients of U.

    W has orthonormal columns: the directions in which gradients differ most from those of a standard normal density,
    or all. Few directions of a large posterior are informed by data (Cui et al. 2014), and fewer are other than normal.

    Attributes
    ----------
    basis
        W, (d, r).
    neglected
        Mean squared length of the residual gradients that W leaves at the training points.
    given
        Training points W'z, and which have gradients.
    kind
        The covariance of f in units of ``variance``.
    extent
        Distance of the farthest point where V is evaluated.
    """

    basis: Array
    neglected: float
    given: Given
    kind: Covariance
    extent: float
    solved: _Solved

    @property
    def dim(self) -> int:
        """Dimension d."""
        return len(self.basis)

    @property
    def informed(self) -> int:
        """Number of directions that are learnt."""
        return self.basis.shape[1]

    @property
    def points(self) -> int:
        """Number of training points."""
        return len(self.given.points)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of values."""
        return math.sqrt(self.kind.nugget * self.solved.variance)

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z, (k,), and its gradients, (k, d)."""
        y = z @ self.basis
        values, slopes = self._isotropic(y)
        more, steeper = self._table(y)
        expected, rises = mean(y)
        across = 0.5 * ((z**2).sum(axis=1) - (y**2).sum(axis=1))
        return self.solved.mean + across + expected + values + more, z + (rises - y + slopes + steeper) @ self.basis.T

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, (k, k); what W leaves is independent from row to row."""
        y, solved = z @ self.basis, self.solved
        cross = np.sum([weight * part.cross(y, self.given) for weight, part in self.kind.parts], axis=0)
        explained = linalg.solve_triangular(solved.factor, cross.T, lower=True, check_finite=False)
        mean = 1.0 - cross @ solved.of_constant
        found = np.sum([weight * part.prior(y) for weight, part in self.kind.parts], axis=0) - explained.T @ explained
        found += np.outer(mean, mean) / float(solved.of_constant[: self.points].sum())
        return np.asarray(solved.variance * found + 0.5 * self.neglected * np.eye(len(z)))

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """Of values (n,) and of gradients (n, r)."""
        n, (_, r) = self.points, self.given.points.shape
        slopes = np.zeros((n, r))
        slopes[self.given.sloped] = self.solved.weights[n:].reshape(r, -1).T
        return self.solved.weights[:n], slopes

    def _isotropic(self, y: Array) -> tuple[Array, Array]:
        length, (alpha, beta) = self.kind.isotropic, self._weights
        x, centres, beta = y / length, self.given.points / length, beta / length
        kernel = squared_exponential(x, centres)
        weighted = kernel * (x @ beta.T + (alpha - (beta * centres).sum(axis=1)))
        totals = weighted.sum(axis=1)
        return totals, (kernel @ beta - x * totals[:, None] + weighted @ centres) / length

    @cached_property
    def _table(self) -> Table:
        alpha, beta = self._weights
        points, (additive, radial) = self.given.points, (self.kind.additive, self.kind.radial)
        r = radii(points)
        outward = (beta * points).sum(axis=1) / r
        count = points.shape[1]
        axes = [(points[:, i], alpha, beta[:, i], additive[0] / count, additive[1]) for i in range(count)]
        return Table.of(axes if additive[0] > 0.0 else [], (r, alpha, outward, *radial), self.extent)


def fit_density(
    points: Array,
    values: Array,
    gradients: Array,
    errors: Array,
    rng: np.random.Generator,
    tuning: Covariances,
    *,
    basis: tuple[Array, float],
    extent: float,
    like: Covariance | None = None,
    search: bool = True,
) -> DensityEmulator:
    """Fit to potentials (n,) and gradients (n, d), NaN where there is none, at whitened points (n, d).

    Parameters
    ----------
    errors
        Standard deviations of errors of values and of gradients, (n, 2).
    basis
        W, and what it leaves.
    extent
        Distance of the farthest point where V is evaluated.
    like
        A covariance to begin the search with, or to take where nothing is searched.

    Raises
    ------
    FitError
        If the system cannot be solved.
    """
    directions, neglected = basis
    sloped = np.flatnonzero(np.isfinite(gradients).all(axis=1))
    left = [0.5 * neglected, neglected / points.shape[1]]
    errors = np.sqrt(errors**2 + left)
    along = points @ directions
    expected, rises = mean(along)
    residuals = Residuals(
        Given(along, sloped),
        values - 0.5 * ((points**2).sum(axis=1) - (along**2).sum(axis=1)) - expected,
        (gradients - points)[sloped] @ directions + (along - rises)[sloped],
        errors[:, 0],
        errors[sloped, 1],
    )
    kind = likeliest(residuals, tuning, rng, like) if search or like is None else like
    gram = np.sum([weight * part.gram(residuals.given) for weight, part in kind.parts], axis=0)
    return DensityEmulator(directions, neglected, residuals.given, kind, extent, solve(residuals, gram, kind.nugget))
