"""Log densities written in JAX: known by what they return, and differentiated by it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from rnshmc.types import Array


def is_jax(result: object) -> bool:
    """Whether a result is an array of JAX; it is asked of every result, so JAX is not imported for it."""
    return type(result).__module__.partition(".")[0] in ("jax", "jaxlib")


class Differentiated:
    """A function of JAX with its gradient, compiled, in double precision whatever JAX's default is."""

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


class DifferentiatedRows:
    """A function of one row, written in JAX, with its gradient for many rows in one call; compiled, in doubles."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._jax = import_module("jax")
        self._both = self._jax.jit(self._jax.vmap(self._jax.value_and_grad(function)))

    def values_and_gradients(self, rows: Array) -> tuple[Array, Array]:
        """Values (k,) and gradients (k, n) at the rows, (k, n)."""
        with in_doubles(self._jax):
            values, gradients = self._both(self._jax.numpy.asarray(_padded(rows)))
            return np.array(values[: len(rows)]), np.array(gradients[: len(rows)])


class DifferentiatedVectorized:
    """A function of rows, written in JAX, whose values depend on one row each, with its gradients; as above."""

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
        """The sum of the values, whose gradient holds those of all rows, and the values."""
        values = self._function(rows)
        return values.sum(), values


def _padded(rows: Array) -> Array:
    """With the last row repeated up to a power of two: functions are compiled for each number of rows."""
    size = 1 << (len(rows) - 1).bit_length()
    return np.asarray(rows[np.minimum(np.arange(size), len(rows) - 1)])


def in_doubles(jax: Any) -> Any:
    """The context in which JAX computes in doubles, under the name that this version of it has."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return import_module("jax.experimental").enable_x64()
