"""Fit of a process of the potential to values and gradients: in all directions, or in those that are not normal."""

from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.covariance_search import MOST_DIMENSIONS
from rnshmc.inference.surrogate.gradient_kernel import GradientKernel
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Fitting
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal directions, and the residual gradients outside of them."""

    basis: Array
    """W, shape (d, r)."""
    neglected: float
    """Mean squared length of the residual gradients outside of W at the training points. Where these are E z with a
    symmetric matrix E, half of it is the variance of z'E z / 2 over standard normal z."""

    @classmethod
    def of(cls, residuals: Array, *, most: int, small: float) -> "Subspace":
        """The fewest directions that leave ``small`` of residual gradients, (n, d), but ``most`` at most."""
        _, sizes, rows = np.linalg.svd(residuals, full_matrices=False)
        shares = sizes**2 / len(residuals)
        left = np.maximum(shares.sum() - np.cumsum(shares), 0.0)
        count = max(1, min(most, 1 + int(np.count_nonzero(left > small)), len(left)))
        return cls(np.asarray(rows[:count].T), float(left[count - 1]))

    def across(self, z: Array) -> Array:
        """(|z|^2 - |W'z|^2) / 2 of the rows of z."""
        return np.asarray(0.5 * ((z**2).sum(axis=1) - ((z @ self.basis) ** 2).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class SubspaceKernel:
    """V(z) = K(W'z) + (|z|^2 - |W'z|^2) / 2 + a constant, for whitened z: normal in all directions but those of W.

    W has the directions in which gradients differ most from those of a standard normal density, by the singular values
    of the differences. Few directions of a large posterior are informed by data (Cui et al. 2014), and fewer are
    other than normal. K solves n (r + 1) equations where a process of all directions solves n (d + 1).
    """

    process: GradientKernel
    """K, in r dimensions."""
    subspace: Subspace
    """W."""
    level: float
    """The constant: `GradientKernel.fit` takes potentials up to one."""
    centres: Array
    """Training points, shape (n, d)."""

    @property
    def dim(self) -> int:
        """Dimension d."""
        return self.centres.shape[1]

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of values."""
        return self.process.noise

    def values_and_gradients(self, q: Array) -> tuple[Array, Array]:
        """V at the rows of q of shape (m, d), and its gradients: (m,) and (m, d)."""
        y = q @ self.subspace.basis
        values, slopes = self.process.values_and_gradients(y)
        return self.level + values + self.subspace.across(q), q + (slopes - y) @ self.subspace.basis.T

    def covariance(self, q: Array) -> Array:
        """Covariance of U - V at the rows of q, shape (m, m); outside of W it is independent from row to row."""
        return self.process.covariance(q @ self.subspace.basis) + 0.5 * self.subspace.neglected * np.eye(len(q))

    def embedded(self, hessian: Array) -> Array:
        """The Hessian in all directions, (d, d), for one along W, (r, r)."""
        basis = self.subspace.basis
        return np.asarray(np.eye(self.dim) + basis @ (hessian - np.eye(basis.shape[1])) @ basis.T)


Process = GradientKernel | SubspaceKernel
"""A process of the potential in whitened coordinates."""


@dataclass(frozen=True, eq=False)
class _Given:
    """Whitened points (n, d), potentials (n,), their gradients (n, d), and standard deviations of errors (n, 2)."""

    points: Array
    heights: Array
    slopes: Array
    errors: Array


def learnt(
    near: Training,
    whitening: Whitening,
    offset: float,
    rng: np.random.Generator,
    tuning: Fitting,
    *,
    like: Process | None,
    lengths: tuple[float, ...],
) -> Process:
    """The process of the potential less ``offset``, through values and gradients at training points.

    ``like`` and ``lengths`` as in `rnshmc.inference.surrogate.posterior.fit_posterior`.
    """
    heights, slopes = near.values - offset, whitening.slopes(near.gradients)
    ceiling = tuning.ceiling * tuning.plausible_height(len(whitening.centre))
    points = whitening.whiten(near.points)
    errors = errors_far_up(points, *compressed(heights, slopes, ceiling), tuning)
    given = _Given(points, heights, slopes, errors)
    known = like.process if isinstance(like, SubspaceKernel) else like
    subspace = _subspace(given, ceiling, tuning)
    along = given if subspace is None else _along(given, subspace)
    targets, slopes = compressed(along.heights, along.slopes, ceiling)
    process = GradientKernel.fit(
        along.points,
        targets,
        rng=rng,
        grad=slopes,
        prior=tuning.prior,
        most_amplitude=tuning.most_amplitude,
        lengths=lengths,
        errors=along.errors,
        like=known,
        parts=_worth_parts(given, lengths),
    )
    return process if subspace is None else SubspaceKernel(process, subspace, float(targets.min()), given.points)


def _worth_parts(given: _Given, lengths: tuple[float, ...]) -> bool:
    """Whether functions of one variable are tried: in few dimensions, at enough points with gradients."""
    (n, dim), sloped = given.points.shape, int(np.isfinite(given.slopes).all(axis=1).sum())
    return dim <= MOST_DIMENSIONS and len(lengths) > 1 and 2 * sloped > max(n, 4 * dim)


def compressed(heights: Array, slopes: Array, ceiling: float) -> tuple[Array, Array]:
    """Above the ceiling C, C (1 + log(U / C)): smooth, so that a cliff bends no process where the posterior is."""
    shrink = ceiling / np.maximum(heights, ceiling)
    return np.where(shrink < 1.0, ceiling * (1.0 - np.log(shrink)), heights), slopes * shrink[:, None]


def _subspace(given: _Given, ceiling: float, tuning: Fitting) -> Subspace | None:
    """The directions of the process; None for all of them."""
    (n, dim), sloped = given.points.shape, np.isfinite(given.slopes).all(axis=1)
    if dim <= tuning.whole or not sloped.any():
        return None
    most = max(1, (tuning.most_rows - n) // int(sloped.sum()))
    trusted = ceiling / np.maximum(given.heights, ceiling)
    residuals = trusted[:, None] * (given.slopes - given.points)
    return Subspace.of(residuals[sloped], most=most, small=tuning.neglected)


def _along(given: _Given, subspace: Subspace) -> _Given:
    """The training data of K, with the errors that neglected directions cause."""
    left = [0.5 * subspace.neglected, subspace.neglected / given.points.shape[1]]
    return replace(
        given,
        points=given.points @ subspace.basis,
        heights=given.heights - subspace.across(given.points),
        slopes=given.slopes @ subspace.basis,
        errors=np.sqrt(given.errors**2 + left),
    )


def errors_far_up(points: Array, heights: Array, slopes: Array, tuning: Fitting) -> Array:
    """Standard deviations of errors, (n, 2), that a process of one length makes in values and slopes far up.

    Where a normal density is as high, its gradient has the length sqrt(2 U). Values and slopes of a standard normal
    density have no error far up, for where the posterior is nearly normal its points far up are most informative.
    """
    least = tuning.rough_height(slopes.shape[1])
    beyond = np.column_stack((heights - least, _lengths(slopes) - np.sqrt(2.0 * least)))
    unexplained = np.column_stack((np.abs(heights - 0.5 * (points**2).sum(axis=1)), _lengths(slopes - points)))
    return np.asarray(tuning.rough * np.minimum(tuning.unexplained * unexplained, np.maximum(beyond, 0.0)))


def _lengths(slopes: Array) -> Array:
    """Norms of the rows, of which no square overflows; 0 for unknown ones."""
    known = np.nan_to_num(slopes)
    largest = np.maximum(np.abs(known).max(axis=1), np.finfo(float).tiny)
    return np.asarray(largest * np.linalg.norm(known / largest[:, None], axis=1))
