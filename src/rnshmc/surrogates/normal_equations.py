"""The normal equations of a growing training set, for measuring the drift of a recursion."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsymv, dsyrk
from scipy.linalg.lapack import dtpttr, dtrttp

from rnshmc.types import Array

BLOCK = 64
"""Training states per update of the matrix: one matrix product is far cheaper than many rank-one updates."""


class NormalEquations:
    """(H'H + ridge I) v = H't. It changes in place."""

    def __init__(self, hidden_units: int, ridge: float) -> None:
        self.matrix: Array = np.asfortranarray(ridge * np.eye(hidden_units))
        """Lower triangle of H'H + ridge I over the states absorbed so far, shape (s, s)."""
        self.right_side = np.zeros(hidden_units)
        """H't over the states absorbed so far, shape (s,)."""
        self._pending: list[Array] = []
        self._pending_targets: list[float] = []

    @classmethod
    def of(cls, hidden: Array, targets: Array, ridge: float) -> Self:
        """The equations of an output matrix H, shape (n, s), and targets t, shape (n,)."""
        equations = cls(hidden.shape[1], ridge)
        equations._absorb(hidden.T, targets)
        return equations

    def add(self, h: Array, target: float) -> bool:
        """Add a row of H and its target; return True if that filled the block and updated the equations."""
        self._pending.append(h)
        self._pending_targets.append(target)
        if len(self._pending) < BLOCK:
            return False
        self._absorb(np.transpose(self._pending), np.array(self._pending_targets))
        self._pending, self._pending_targets = [], []
        return True

    def residual(self, v: Array) -> Array:
        """H't - (H'H + ridge I) v over the states absorbed so far, shape (s,)."""
        residual: Array = self.right_side - dsymv(1.0, self.matrix, v, lower=1)
        return residual

    def snapshot(self) -> dict[str, Any]:
        """State from which `restored` rebuilds the equations: the matrix's lower triangle, and the incomplete block."""
        return {
            "matrix": packed(self.matrix),
            "right_side": self.right_side,
            "pending": np.reshape(self._pending, (-1, len(self.right_side))).T,
            "pending_targets": np.array(self._pending_targets),
        }

    @classmethod
    def restored(cls, snapshot: Mapping[str, Any]) -> Self:
        """The equations of a snapshot."""
        equations = cls(len(snapshot["right_side"]), ridge=0.0)
        equations.matrix = unpacked(snapshot["matrix"])
        equations.right_side = snapshot["right_side"]
        equations._pending = list(snapshot["pending"].T)
        equations._pending_targets = snapshot["pending_targets"].tolist()
        return equations

    def _absorb(self, hidden_transposed: Array, targets: Array) -> None:
        dsyrk(1.0, hidden_transposed, lower=1, beta=1.0, c=self.matrix, overwrite_c=1)
        self.right_side = self.right_side + hidden_transposed @ targets


def packed(matrix: Array) -> Array:
    """The lower triangle of a matrix in Fortran order, shape (s, s), column after column: shape (s (s + 1) / 2,)."""
    triangle, _ = dtrttp(matrix, uplo="L")
    return np.asarray(triangle)


def unpacked(triangle: Array) -> Array:
    """A matrix in Fortran order with this lower triangle, and zeros above it."""
    size = (math.isqrt(8 * len(triangle) + 1) - 1) // 2
    matrix, _ = dtpttr(size, triangle, uplo="L")
    return np.asarray(matrix)
