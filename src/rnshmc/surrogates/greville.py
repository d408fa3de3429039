"""Greville's recursion: the pseudo-inverse solution, updated state by state (paper A, Proposition 1)."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import linalg
from scipy.linalg.blas import dsymv, dsyr, dsyr2
from scipy.linalg.lapack import dpotri

from rnshmc.errors import FitError
from rnshmc.surrogates.normal_equations import packed, unpacked
from rnshmc.types import Array

DEPENDENCE_TOLERANCE = 1e-6
"""c = 0 in Proposition 1 means |c| <= DEPENDENCE_TOLERANCE |h|.

A row h that counts as independent adds entries up to 1/|c|^2 to Theta, so products of Theta with h have relative
rounding errors of size eps |h|^2 / |c|^2: 2e-4 at this tolerance, of size 1 at sqrt(eps) = 1.5e-8.
"""


class GrevilleRecursion:
    """Output weights v = H^+ t, and the matrices that update them by one more row of H, in place.

    With ridge > 0 the recursion is that of the stacked matrix [H; sqrt(ridge) I], which has full column rank: then Phi
    = 0, Theta = (H'H + ridge I)^-1, and every update is branch (i), recursive least squares. Phi is dropped when the
    rank reaches s. Only the lower triangles of the symmetric matrices Theta and Phi are stored.

    The arguments are v, shape (s,), Theta = H^+ (H^+)' and Phi = I - H^+ H, shape (s, s); Phi is None if the rank is s.
    Their lower triangles are used, and overwritten if they are in Fortran order.
    """

    def __init__(self, output_weights: Array, theta: Array, phi: Array | None) -> None:
        self.output_weights = output_weights
        """v, shape (s,). An update makes a new array."""
        self._theta = np.asfortranarray(theta)
        self._phi = None if phi is None else np.asfortranarray(phi)
        # The trace of a projection is the dimension of its range.
        self.rank = len(output_weights) - (0 if phi is None else round(np.trace(phi)))
        """Rank of H, or s with a penalty."""

    @classmethod
    def from_normal_equations(cls, matrix: Array, right_side: Array) -> Self:
        """Start from the lower triangle of H'H + ridge I, and H't: O(s^3).

        Raises `scipy.linalg.LinAlgError` if the matrix is not positive definite in doubles.
        """
        factor, _ = linalg.cho_factor(matrix, lower=True)
        theta, _ = dpotri(factor, lower=1)
        return cls(linalg.cho_solve((factor, True), right_side), theta, None)

    @classmethod
    def from_hidden_layer(cls, hidden: Array, targets: Array, ridge: float) -> Self:
        """Start from the output matrix H, shape (n, s), and targets t, shape (n,), by a singular value decomposition.

        Without a penalty, singular values up to DEPENDENCE_TOLERANCE times the root mean square of the rows' norms are
        zero. Raises `FitError` if the decomposition fails.
        """
        try:
            U, sigma, Vt = linalg.svd(hidden, full_matrices=False)
        except (ValueError, linalg.LinAlgError) as error:
            raise FitError(f"no singular value decomposition of the hidden layer: {error}") from error
        if ridge == 0:
            kept = sigma > DEPENDENCE_TOLERANCE * np.linalg.norm(sigma) / np.sqrt(len(hidden))
            U, sigma, Vt = U[:, kept], sigma[kept], Vt[kept]
        damped = sigma**2 + ridge
        v = Vt.T @ (sigma / damped * (targets @ U))
        theta = (Vt.T / damped) @ Vt
        if len(sigma) == len(v):
            return cls(v, theta, None)
        phi = np.eye(len(v)) - Vt.T @ Vt
        return cls(v, theta, phi) if ridge == 0 else cls(v, theta + phi / ridge, None)

    def update(self, h: Array, target: float) -> None:
        """Learn that the hidden layer's output h, shape (s,), has the target t: O(s^2), without s^2 temporary
        memory."""
        theta_h = self.apply_theta(h)
        spread = 1.0 + float(h @ theta_h)
        residual = target - float(h @ self.output_weights)
        c = None if self._phi is None else dsymv(1.0, self._phi, h, lower=1)
        if c is None or c @ c <= DEPENDENCE_TOLERANCE**2 * (h @ h):
            self.output_weights = self.output_weights + residual / spread * theta_h
            dsyr(-1.0 / spread, theta_h, lower=1, a=self._theta, overwrite_a=1)
            return
        b = c / (c @ c)
        self.output_weights = self.output_weights + residual * b
        # -x b' - b x' + spread b b' in one pass over the matrix.
        dsyr2(-1.0, theta_h - 0.5 * spread * b, b, lower=1, a=self._theta, overwrite_a=1)
        self.rank += 1
        if self.rank == len(c):
            self._phi = None
        else:
            dsyr(-1.0 / (c @ c), c, lower=1, a=self._phi, overwrite_a=1)

    def apply_theta(self, x: Array) -> Array:
        """Theta x, shape (s,)."""
        product: Array = dsymv(1.0, self._theta, x, lower=1)
        return product

    def snapshot(self) -> dict[str, Any]:
        """State from which `restored` rebuilds the recursion: v, and the lower triangles of Theta and Phi, if any."""
        phi = {} if self._phi is None else {"phi": packed(self._phi)}
        return {"output_weights": self.output_weights, "theta": packed(self._theta), "rank": self.rank, **phi}

    @classmethod
    def restored(cls, snapshot: Mapping[str, Any]) -> Self:
        """The recursion of a snapshot."""
        phi = unpacked(snapshot["phi"]) if "phi" in snapshot else None
        recursion = cls(snapshot["output_weights"], unpacked(snapshot["theta"]), phi)
        # Rounding may have changed the trace of Phi, from which a new recursion would compute its rank.
        recursion.rank = snapshot["rank"]
        return recursion
