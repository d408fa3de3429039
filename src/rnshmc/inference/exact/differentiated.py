"""Log densities written in JAX: known by what they return, and differentiated by it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

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
        with self._in_doubles():
            return float(self._value(self._jax.numpy.asarray(x)))

    def value_and_grad(self, x: Array) -> tuple[float, Any]:
        """The function and its gradient at ``x``."""
        with self._in_doubles():
            value, gradient = self._both(self._jax.numpy.asarray(x))
            return float(value), gradient

    def _in_doubles(self) -> Any:
        """The context in which JAX computes in doubles, under the name that this version of it has."""
        if hasattr(self._jax, "enable_x64"):
            return self._jax.enable_x64(True)
        return import_module("jax.experimental").enable_x64()
