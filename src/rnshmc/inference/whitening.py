"""Coordinates in which a posterior is nearly standard normal, learnt from gradients."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from rnshmc.types import Array

THIRD_ORDER = 0.05
"""Assumed change of a whitened gradient beyond its linear part, per squared whitened distance."""
NEAR = 3.0
"""Gradients are compared over distances of up to this many times sqrt(d)."""
LEAST, MOST = 0.1, 20.0
"""Curvatures in the coordinates of an earlier estimate that a new estimate may take on."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """z = L'(x - centre), so that a Hessian H = L L' in x is the identity in z.

    Attributes
    ----------
    centre
        Shape (d,).
    factor
        L, lower triangular, shape (d, d).
    """

    centre: Array
    factor: Array

    def whiten(self, x: Array) -> Array:
        """z of the rows of x."""
        return np.asarray((x - self.centre) @ self.factor)

    def unwhiten(self, z: Array) -> Array:
        """x of the rows of z."""
        return np.asarray(self.centre + solve_triangular(self.factor, z.T, lower=True, trans="T").T)

    def slopes(self, gradients: Array) -> Array:
        """Gradients by z from gradients by x, row by row; rows of NaN stay."""
        found = np.full(gradients.shape, np.nan)
        given = np.isfinite(gradients).all(axis=1)
        if given.any():
            found[given] = solve_triangular(self.factor, gradients[given].T, lower=True).T
        return found

    def curved(self, curvatures: Array, directions: Array) -> "Whitening":
        """With a new Hessian: the one in z that has these eigenvalues, and eigenvectors as columns."""
        root = (directions * np.sqrt(curvatures)).T @ self.factor.T
        return Whitening(self.centre, np.linalg.qr(root)[1].T)

    def moved(self, centre: Array) -> "Whitening":
        """With another centre, given in x."""
        return Whitening(centre, self.factor)


def secant_weights(steps: Array) -> Array:
    """Weight of the change of the gradient over each row of whitened ``steps``: the inverse variance of its error.

    The error is what a Hessian does not explain, THIRD_ORDER |step|^2.
    """
    squared = (steps**2).sum(axis=1)
    return np.asarray(1.0 / (squared * (1e-3 + THIRD_ORDER * np.sqrt(squared)) ** 2))


def secant_hessian(steps: Array, changes: Array) -> Array:
    """The symmetric matrix nearest to the identity that maps steps to changes of the gradient, by weighted least squares.

    Minimises sum_i w_i |(I + E) s_i - y_i|^2 + |E|_F^2 over symmetric E, from E M + M E + 2 E = B + B' with
    M = sum_i w_i s_i s_i' and B = sum_i w_i (y_i - s_i) s_i': Powell's symmetric update, for many secants at once.

    Parameters
    ----------
    steps, changes
        s_i and y_i in whitened coordinates, rows of arrays of shape (n, d).
    """
    weighted = (steps * secant_weights(steps)[:, None]).T
    moments, basis = np.linalg.eigh(weighted @ steps)
    crossed = weighted @ (changes - steps)
    target = basis.T @ (crossed + crossed.T) @ basis
    change = target / (np.add.outer(*2 * (np.maximum(moments, 0.0),)) + 2.0)
    return np.asarray(np.eye(steps.shape[1]) + basis @ change @ basis.T)


def unexplored(steps: Array) -> Array:
    """Orthonormal columns that span the whitened directions of which the steps say less than the prior of a secant."""
    weighted = (steps * secant_weights(steps)[:, None]).T
    moments, basis = np.linalg.eigh(weighted @ steps)
    return np.asarray(basis[:, moments < 1.0])


def improved(whitening: Whitening, hessian: Array) -> Whitening:
    """The whitening for a Hessian estimated in its own coordinates, eigenvalues held within LEAST and MOST."""
    curvatures, directions = np.linalg.eigh(hessian)
    return whitening.curved(np.clip(curvatures, LEAST, MOST), directions)
