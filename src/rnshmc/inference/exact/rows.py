"""Log densities that the user gives as functions of one point, with gradients, at many points."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.differentiated import DifferentiatedRows, is_jax
from rnshmc.inference.given import numbers, plain
from rnshmc.types import Array

STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Relative step of central differences: truncation and rounding errors are of the same size."""
SMALL = 1e-3
"""Part of its typical size below which an entry may be of a size of its own."""
SAME = 1e-3
"""Relative difference of the slopes by steps of both sizes, besides rounding, from which on it is."""
ROUNDED = 10.0
"""Rounding errors of a value that a difference may have."""


@dataclass
class RowFunction:
    """A log density of the user, at the rows of an array.

    The function returns a number written in JAX, which is differentiated and called for all rows at once; or a pair of
    a number and its gradient; or a number, whose gradient is taken by central differences.

    Attributes
    ----------
    function
        f(z) for z of shape (n,).
    what
        What the function is, for messages.
    typical
        Sizes of the entries of z, shape (n,): steps are relative to the larger of entry and size.
    most_differences
        Largest n for which central differences are taken; None for no limit.
    """

    function: Callable[[Any], Any]
    what: str
    typical: Array
    most_differences: int | None = None
    _compiled: DifferentiatedRows | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the function compiled by JAX, which each process compiles itself."""
        return {**self.__dict__, "_compiled": None}

    def __call__(self, rows: Array) -> tuple[Array, Array]:
        """Log densities (k,) and gradients (k, n); -inf and zeros where the density is zero.

        Raises
        ------
        ParameterError
            If the function returns what it should not, or has no derivative and too many arguments.
        """
        if len(rows) == 0:
            return np.empty(0), np.empty(rows.shape)
        if self._compiled is None and is_jax(self.function(rows[0].copy())):
            self._compiled = DifferentiatedRows(self.function)
        if self._compiled is not None:
            values, gradients = self._compiled.values_and_gradients(rows)
        else:
            answers = [self._one(row) for row in rows]
            values, gradients = (np.array([answer[part] for answer in answers], dtype=np.float64) for part in (0, 1))
        good = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
        return np.where(good, values, -np.inf), np.where(good[:, None], gradients, 0.0)

    def _one(self, row: Array) -> tuple[float, Array]:
        """Value and gradient at one row."""
        returned = self.function(row.copy())
        if not isinstance(returned, tuple):
            value = self._number(returned)
            return value, self._differences(row, value) if np.isfinite(value) else np.zeros(len(row))
        if len(returned) != 2:
            raise ParameterError(f"{self.what}: it returned {len(returned)} things, expected a number and its gradient")
        gradient = numbers(returned[1], f"{self.what}: its gradient")
        if gradient.shape != row.shape:
            raise ParameterError(f"{self.what}: its gradient has shape {gradient.shape}, expected {row.shape}")
        return self._number(returned[0]), gradient

    def _number(self, returned: Any) -> float:
        array = np.asarray(plain(returned, self.what))
        if array.size != 1 or array.dtype.kind not in "fiub":
            raise ParameterError(f"{self.what}: it returned {returned!r:.80}, expected a real number or a tuple")
        return float(array.reshape(()))

    def _differences(self, row: Array, value: float) -> Array:
        """Central differences; one-sided ones at the edge of the support."""
        if self.most_differences is not None and len(row) > self.most_differences:
            raise ParameterError(
                f"{self.what}: it returns a number without derivatives, of {len(row)} variables; that is too many for "
                f"differences (at most {self.most_differences}). Return derivatives, too, or write it in JAX"
            )
        gradient = np.array([self._slope(row, i, max(abs(row[i]), self.typical[i]), value) for i in range(len(row))])
        # Far below its typical size an entry may be of a size of its own, over which the density changes.
        for i in np.flatnonzero((row != 0.0) & (np.abs(row) < SMALL * self.typical)):
            own = self._slope(row, i, abs(row[i]), value)
            rounding = ROUNDED * np.finfo(np.float64).eps * max(abs(value), 1.0) / (STEP * abs(row[i]))
            if abs(own - gradient[i]) > SAME * abs(own) + rounding:
                gradient[i] = own
        return gradient

    def _slope(self, row: Array, i: int, size: float, value: float) -> float:
        """Derivative by one entry, by a step relative to a size."""
        step = np.zeros(len(row))
        step[i] = STEP * size
        ends = [(sign, self._number(self.function(row + sign * step))) for sign in (1.0, -1.0)]
        (ahead, high), (behind, low) = ((sign, f) if np.isfinite(f) else (0.0, value) for sign, f in ends)
        return (high - low) / ((ahead - behind) * step[i]) if ahead != behind else 0.0
