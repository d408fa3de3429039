"""Coordinates in which a posterior is nearly standard normal, estimated from gradients."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.tuning_start import Curvatures
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Whitening:
    """z = L'(x - centre), so that a Hessian H = L L' in x is the identity in z.

    Raises
    ------
    numpy.linalg.LinAlgError
        If L is singular, or L or the centre is not finite.
    """

    centre: Array
    """Shape (d,)."""
    factor: Array
    """L, lower triangular, shape (d, d)."""

    def __post_init__(self) -> None:
        diagonal = np.abs(np.diag(self.factor))
        if not (np.isfinite(self.factor).all() and np.isfinite(self.centre).all() and (diagonal > 0.0).all()):
            raise np.linalg.LinAlgError("a Hessian is singular or not finite")

    @classmethod
    def by_size(cls, start: Array) -> "Whitening":
        """Coordinates in units of their absolute value at the start, or of one where that is zero."""
        return cls(start, np.diag(1.0 / np.where(start == 0.0, 1.0, np.abs(start))))

    @classmethod
    def of_draws(cls, draws: Array) -> "Whitening":
        """Whitened by the mean and the covariance of draws, (n, d)."""
        covariance = np.cov(draws.T).reshape(draws.shape[1], draws.shape[1])
        return cls(draws.mean(axis=0), np.linalg.cholesky(np.linalg.inv(covariance)))

    def whiten(self, x: Array) -> Array:
        """z of the rows of x."""
        return np.asarray((x - self.centre) @ self.factor)

    def unwhiten(self, z: Array) -> Array:
        """x of the rows of z."""
        return np.asarray(self.centre + self.steps(z))

    def steps(self, z: Array) -> Array:
        """Steps in x from those in z, row by row."""
        return np.asarray(solve_triangular(self.factor, z.T, lower=True, trans="T").T)

    def slopes(self, gradients: Array) -> Array:
        """Gradients by z from gradients by x, row by row; rows of NaN stay."""
        found = np.full(gradients.shape, np.nan)
        given = np.isfinite(gradients).all(axis=1)
        if given.any():
            found[given] = solve_triangular(self.factor, gradients[given].T, lower=True).T
        return found

    def length(self, step: Array) -> float:
        """Whitened length of a step in x."""
        return float(np.linalg.norm(step @ self.factor))

    def curved(self, curvatures: Array, directions: Array) -> "Whitening":
        """The whitening for the Hessian in z with these eigenvalues, and with eigenvectors as columns."""
        root = (directions * np.sqrt(curvatures)).T @ self.factor.T
        return Whitening(self.centre, np.linalg.qr(root)[1].T)

    def moved(self, centre: Array) -> "Whitening":
        """The same whitening with another centre, given in x."""
        return Whitening(centre, self.factor)

    def of_first(self, count: int) -> "Whitening":
        """The whitening of the first coordinates alone, by their marginal covariance."""
        if count == len(self.centre):
            return self
        covariance = cho_solve((self.factor, True), np.eye(len(self.centre)))[:count, :count]
        root = cholesky(covariance, lower=True)
        # QR of the inverse makes the factor of the precision triangular.
        inverse = solve_triangular(root, np.eye(count), lower=True)
        return Whitening(self.centre[:count], np.linalg.qr(inverse)[1].T)


@dataclass(frozen=True, eq=False)
class Secants:
    """Changes of the whitened gradient over whitened steps from one point, rows of (n, d) arrays, and their weights."""

    steps: Array
    changes: Array
    weights: Array
    """Inverse variance of the part of a change that no Hessian explains, shape (n,). Its standard deviation is
    `Curvatures.third_order` |step|^2, or what the remainder of the trapezoidal rule for the potential implies, if that
    is larger: a third derivative T along a step of length s leaves T s^3 / 12 there, and T s^2 / 2 in the gradient."""

    @classmethod
    def over(
        cls, steps: Array, changes: Array, remainders: Array, third_order: float, unexplained: float = np.inf
    ) -> "Secants":
        """Secants weighted by the remainders of the trapezoidal rule, shape (n,), and an assumed third derivative.

        The latter is reduced where it would leave more than ``unexplained`` of the change over the longest step. Steps
        that whitening rounds to zero are left out.
        """
        lengths = np.sqrt((steps**2).sum(axis=1))
        moved = lengths > 0.0
        steps, changes, remainders, lengths = steps[moved], changes[moved], remainders[moved], lengths[moved]
        third_order = min(third_order, unexplained / lengths.max(initial=np.finfo(float).tiny))
        with np.errstate(over="ignore"):  # potentials near the largest number weigh nothing
            errors = np.maximum(third_order * lengths**2, 6.0 * np.abs(remainders) / lengths) + 1e-3 * lengths
            return cls(steps, changes, 1.0 / errors**2)

    def hessian(self) -> Array:
        """The symmetric matrix I + E nearest to the identity that maps steps to changes, by weighted least squares.

        Minimises sum_i w_i |(I + E) s_i - y_i|^2 + |E|_F^2 over symmetric E, from E M + M E + 2 E = B + B' with
        M = sum_i w_i s_i s_i' and B = sum_i w_i (y_i - s_i) s_i': Powell's symmetric update, for many secants at once.
        """
        moments, basis = self._moments()
        crossed = (self.steps * self.weights[:, None]).T @ (self.changes - self.steps)
        target = basis.T @ (crossed + crossed.T) @ basis
        change = target / (moments[:, None] + moments + 2.0)
        return np.asarray(np.eye(self.steps.shape[1]) + basis @ change @ basis.T)

    def unexplored(self) -> Array:
        """Orthonormal columns that span the directions in which the prior of E outweighs the steps."""
        moments, basis = self._moments()
        return np.asarray(basis[:, moments < 1.0])

    def _moments(self) -> tuple[Array, Array]:
        moments, basis = np.linalg.eigh((self.steps * self.weights[:, None]).T @ self.steps)
        return np.maximum(moments, 0.0), basis


def gradient_of(found: Evaluation) -> Array:
    """The gradient of an evaluation that has one."""
    assert found.gradient is not None
    return found.gradient


def secants_from(
    best: Evaluation,
    others: Sequence[Evaluation],
    whitening: Whitening,
    third_order: float,
    unexplained: float = np.inf,
) -> Secants:
    """Changes of the whitened gradient over steps from ``best`` to other points, weighted as by `Secants.over`."""
    apart = [found for found in others if not np.array_equal(found.point, best.point)]
    points = np.array([found.point for found in apart]).reshape(-1, len(best.point))
    slopes = whitening.slopes(np.array([gradient_of(found) for found in apart]).reshape(points.shape))
    origin = whitening.slopes(gradient_of(best)[None])
    steps = whitening.whiten(points) - whitening.whiten(best.point[None])
    rises = np.array([found.value for found in apart]) - best.value
    remainders = rises - 0.5 * ((slopes + origin) * steps).sum(axis=1)
    return Secants.over(steps, slopes - origin, remainders, third_order, unexplained)


def improved(whitening: Whitening, hessian: Array, tuning: Curvatures) -> Whitening:
    """The whitening for a Hessian estimated in its own coordinates, eigenvalues clipped to the limits.

    Negative curvatures are replaced by their absolute values, as in saddle-free Newton steps (Dauphin et al. 2014).
    """
    curvatures, directions = np.linalg.eigh(hessian)
    return whitening.curved(np.clip(np.abs(curvatures), tuning.least, tuning.most), directions)
