"""The user's functions with derivatives: by JAX, in double precision whatever its default, or by differences."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers, plain
from rnshmc.types import Array

STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Relative step of central differences: truncation and rounding errors are of the same size."""
SMALL = 1e-3
"""Part of its typical size below which an entry may have a scale of its own."""
SAME = 1e-3
"""Relative difference of the slopes by steps of both sizes, besides rounding, above which it has."""
ROUNDED = 10.0
"""Rounding errors of a value allowed in a difference."""


def is_jax(result: object) -> bool:
    """Whether a result is an array of JAX, found without importing JAX."""
    return type(result).__module__.partition(".")[0] in ("jax", "jaxlib")


class Differentiated:
    """A function written in JAX with its gradient, compiled."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self._jax = import_module("jax")
        self._value = self._jax.jit(function)
        self._both = self._jax.jit(self._jax.value_and_grad(function))

    def value(self, x: Array) -> float:
        """The function at ``x``."""
        with in_doubles(self._jax):
            return float(self._value(self._jax.numpy.asarray(x)))

    def value_and_grad(self, x: Array) -> tuple[float, Any]:
        """The function and its gradient at ``x``."""
        with in_doubles(self._jax):
            value, gradient = self._both(self._jax.numpy.asarray(x))
            return float(value), gradient


class DifferentiatedVectorized:
    """A function of all rows, written in JAX, each of whose values depends on one row, with its gradients; compiled."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._jax, self._function = import_module("jax"), function
        self._values = self._jax.jit(function)
        self._both = self._jax.jit(self._jax.value_and_grad(self._total, has_aux=True))

    def values(self, rows: Array) -> Array:
        """Values (k,) at the rows, (k, n)."""
        with in_doubles(self._jax):
            return np.array(self._values(self._jax.numpy.asarray(_padded(rows))))[: len(rows)]

    def values_and_gradients(self, rows: Array) -> tuple[Array, Array]:
        """Values (k,) and gradients (k, n) at the rows, (k, n)."""
        with in_doubles(self._jax):
            (_, values), gradients = self._both(self._jax.numpy.asarray(_padded(rows)))
            return np.array(values)[: len(rows)], np.array(gradients)[: len(rows)]

    def _total(self, rows: Any) -> tuple[Any, Any]:
        """The sum of the values, whose gradient has the gradients of all rows, and the values."""
        values = self._function(rows)
        return values.sum(), values


def _padded(rows: Array) -> Array:
    """The rows, the last one repeated up to a power of two: functions are compiled for each number of rows."""
    size = 1 << (len(rows) - 1).bit_length()
    return np.asarray(rows[np.minimum(np.arange(size), len(rows) - 1)])


def in_doubles(jax: Any) -> Any:
    """The context in which JAX computes in doubles; its name depends on the version of JAX."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return import_module("jax.experimental").enable_x64()


@dataclass
class RowFunction:
    """A log density of the user, evaluated at the rows of an array.

    The function of z, shape (n,), returns a number computed by JAX, which is differentiated and called for all rows at
    once; or a pair of a number and its gradient; or a number, whose gradient is taken by central differences.
    """

    function: Callable[[Any], Any]
    what: str
    """Name of the function in messages."""
    typical: Array
    """Sizes of the entries of z, shape (n,): steps are relative to the larger of entry and size."""
    most_differences: int | None = None
    """Largest n for which central differences are taken; None for no limit."""
    _compiled: Callable[[Any], tuple[Any, Any]] | None = field(default=None, repr=False)
    """Values and gradients at many rows, if the function is written in JAX."""

    def __getstate__(self) -> dict[str, Any]:
        """The state without the compiled function, which each process compiles itself."""
        return {**self.__dict__, "_compiled": None}

    def __call__(self, rows: Array) -> tuple[Array, Array]:
        """Log densities (k,) and gradients (k, n); -inf and zeros where the density is zero.

        Raises `ParameterError` for an unusable return value, or if differences would need too many calls.
        """
        if len(rows) == 0:
            return np.empty(0), np.empty(rows.shape)
        if self._compiled is None and is_jax(self.function(rows[0].copy())):
            jax = import_module("jax")
            self._compiled = jax.jit(jax.vmap(jax.value_and_grad(self.function)))
        if self._compiled is not None:
            jax = import_module("jax")
            with in_doubles(jax):
                found = self._compiled(jax.numpy.asarray(_padded(rows)))
                values, gradients = (np.array(part[: len(rows)]) for part in found)
        else:
            answers = [self._one(row) for row in rows]
            values, gradients = (np.array([answer[part] for answer in answers], dtype=np.float64) for part in (0, 1))
        good = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
        return np.where(good, values, -np.inf), np.where(good[:, None], gradients, 0.0)

    def _one(self, row: Array) -> tuple[float, Array]:
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
        # Far below its typical size, an entry may have a scale of its own on which the density changes.
        for i in np.flatnonzero((row != 0.0) & (np.abs(row) < SMALL * self.typical)):
            own = self._slope(row, i, abs(row[i]), value)
            rounding = ROUNDED * np.finfo(np.float64).eps * max(abs(value), 1.0) / (STEP * abs(row[i]))
            if abs(own - gradient[i]) > SAME * abs(own) + rounding:
                gradient[i] = own
        return gradient

    def _slope(self, row: Array, i: int, size: float, value: float) -> float:
        """Derivative by one entry, with a step relative to a size."""
        step = np.zeros(len(row))
        step[i] = STEP * size
        ends = [(sign, self._number(self.function(row + sign * step))) for sign in (1.0, -1.0)]
        (ahead, high), (behind, low) = ((sign, f) if np.isfinite(f) else (0.0, value) for sign, f in ends)
        return (high - low) / ((ahead - behind) * step[i]) if ahead != behind else 0.0
