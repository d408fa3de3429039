"""Evaluation of the user's log density on a worker, in the user's coordinates; its errors become failed evaluations."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any

import numpy as np

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.differentiated import Differentiated, is_jax
from rnshmc.inference.exact.evaluation import Answer, Cost, Evaluation
from rnshmc.inference.given import plain
from rnshmc.types import Array

Function = Callable[[Array], Any]

_OF_PROCESSES = (PicklingError, AttributeError, AssertionError)
_HINTS = {
    "daemonic processes are not allowed": "give pool= a number or an executor of concurrent.futures: their processes "
    "may start others",
    "__main__": "processes that the target starts cannot import a script; put the functions they use into a module",
}
"""Remedies for errors of targets that start processes, by a part of the message."""


class _UnusableError(Exception):
    """The target returned something other than a value or a gradient."""


@dataclass
class Density:
    """The user's log density, as a function of x, shape (d,)."""

    function: Function
    """Returns the log density, or the pair of it and its gradient; a number computed by JAX is differentiated."""
    gradient: Function | None = None
    """Gradient of the log density, if it is a separate function."""
    both: Function | None = None
    """Value and gradient in one call, if ``function`` computes the value alone at less cost."""
    _in_jax: Differentiated | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state without compiled functions, which each worker compiles itself."""
        return {**self.__dict__, "_in_jax": None}

    def evaluate(self, x: Array, *, gradient: bool) -> Answer:
        """U at ``x``, and its gradient if requested and there is one. Exceptions of the user's functions are failures.

        Raises `EvaluationError` if no other point can be evaluated either.
        """
        cost, valid = Cost(0), -math.inf
        number, failure, slope = -math.inf, None, None
        try:
            value, returned = self._ask(x, gradient, cost)
            number = _number(value)
            if self.gradient is not None and gradient and number > -math.inf and not cost.always_both:
                valid = number  # whether or not its gradient, a separate function, fails
                cost.gradients += 1
                returned = self.gradient(x.copy())
            slope = _slope(returned, len(x)) if number > -math.inf else None
        except (EvaluationError, KeyboardInterrupt):
            raise
        except BaseException as error:  # `sys.exit` in a wrapped program, and panics of Rust, which are no `Exception`
            number, failure = valid, reason(error)
        asked = gradient or slope is not None
        return Evaluation(x, -number, None if slope is None else -slope, failure, asked), cost

    def _ask(self, x: Array, gradient: bool, cost: Cost) -> tuple[Any, Any]:
        """The value, and the gradient that comes with it, as returned; each call is counted before it is made."""
        # Copies, because the user's functions may modify their argument.
        if self.both is not None and gradient:
            cost.values += 1
            cost.gradients += 1
            value, slope = self.both(x.copy())
            return value, slope
        if self._in_jax is None:
            cost.values += 1
            result = self.function(x.copy())
            if _is_pair(result):  # whether or not the gradient was requested
                if len(result) != 2:
                    things = f"{len(result)} things, expected the log density and its gradient"
                    raise _UnusableError(f"the target returned {things}")
                cost.gradients += 1
                cost.always_both = True
                return result[0], result[1]
            if self.gradient is not None or not is_jax(result):
                return result, None
            # Most likely in single precision: from now on, this worker requests doubles from JAX.
            self._in_jax = Differentiated(self.function)
        cost.values += 1
        if not gradient:
            return self._in_jax.value(x), None
        cost.gradients += 1
        return self._in_jax.value_and_grad(x)


def _is_pair(result: Any) -> bool:
    """Whether a result is a value with its gradient: a tuple, or a list whose second entry is an array."""
    return isinstance(result, tuple) or (isinstance(result, list) and len(result) == 2 and np.ndim(result[1]) > 0)


def _doubles(given: Any, what: str, expected: str) -> Array:
    if np.iscomplexobj(given):
        raise _UnusableError(f"{what} is complex, {given!s:.80}; expected {expected}")
    given = plain(given, what)
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise _UnusableError(f"{what} is {given!r:.80}, expected {expected}") from None


def _number(value: Any) -> float:
    """The log density as a float, finite or -inf."""
    if value is None:
        raise _UnusableError("the target returned None; does the function end without a return?")
    array = _doubles(value, "the log density", "a real number")
    if array.size != 1:
        raise _UnusableError(f"the log density has shape {array.shape}, expected a number")
    number = float(array.reshape(()))
    if math.isnan(number) or number == math.inf:
        raise _UnusableError(f"the log density is {number}")
    return number


def _slope(gradient: Any, dim: int) -> Array | None:
    """The gradient as a finite array of shape (d,)."""
    if gradient is None:
        return None
    array = _doubles(gradient, "the gradient", "real numbers")
    if array.shape != (dim,):
        raise _UnusableError(f"the gradient has shape {array.shape}, expected ({dim},)")
    if not (finite := np.isfinite(array)).all():
        raise _UnusableError(f"the gradient is {array[~finite][0]} in entry {np.argmin(finite)}")
    return array


def reason(error: BaseException) -> str:
    """The error in one line."""
    if isinstance(error, _UnusableError):
        return str(error)
    try:
        text = " ".join(str(error).split())
    except Exception:  # the user's class may fail at that
        text = ""
    hint = next((f"; {hint}" for part, hint in _HINTS.items() if part in text and isinstance(error, _OF_PROCESSES)), "")
    return f"{type(error).__name__}: {text}"[:500] + hint if text else type(error).__name__
