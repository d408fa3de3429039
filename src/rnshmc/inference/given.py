"""The boundary to the user's code: numbers that it gives, and NumPy's handling of floating-point errors in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.types import Array

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_users: ContextVar[Mapping[str, Any] | None] = ContextVar("users", default=None)
"""NumPy's settings where the outermost running function of `own_errstate` was called; None outside of any."""


def numbers(given: Any, what: str, expected: str = "numbers") -> Array:
    """A copy as doubles, NaN where masked; a `ParameterError` on ``what`` if there are units, or no real numbers."""
    values = plain(given, what)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "cmM":
            return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{what}: expected {expected}, got {given!r:.80}") from None
    kind = "complex numbers" if array.dtype.kind == "c" else "dates or durations"
    raise ParameterError(f"{what}: expected real numbers, got {kind}")


def plain(given: Any, what: str) -> Any:
    """The same object, or a copy with NaN where it is masked.

    A `ParameterError` on ``what`` is raised if it has a unit, as quantities of astropy, pint and unyt do.
    """
    _check_units(given, what)
    # Of a masked array of complex numbers, the caller sees that it is complex.
    masked = isinstance(given, np.ma.MaskedArray) and given.dtype.kind != "c"
    return given.astype(np.float64).filled(np.nan) if masked else given


def entries(given: Any, what: str) -> list[Any]:
    """The entries of a sequence, or of any other ordered iterable, such as ``zip(low, high)``.

    A `ParameterError` on ``what`` is raised for words, sets, and what cannot be iterated.
    """
    if isinstance(given, set | frozenset):
        raise ParameterError(f"{what}: expected a list, got {given!r:.80}; a set has no order")
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ParameterError(f"{what}: expected a list, got {given!r:.80}")
    return list(given)


def check_whole(name: str, given: Any, least: int) -> None:
    """Raise a `ParameterError` unless this is a whole number, and not too small."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise ParameterError(f"{name}: expected a whole number of at least {least}, got {given!r}")


def _check_units(given: Any, what: str) -> None:
    for unit in (getattr(given, name, None) for name in ("unit", "units", "magnitude")):
        if unit is not None:
            raise ParameterError(
                f"{what}: got numbers with a unit ({unit!s:.80}), which would be dropped; give plain numbers, with "
                "parameters, outputs, data and scales in consistent units"
            )
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.dtype == object and given.ndim):
        for entry in given:
            if not isinstance(entry, float | int | str):
                _check_units(entry, what)


def own_errstate(function: Callable[P, R]) -> Callable[P, R]:
    """The function with NumPy's default: underflow of a weight is no error, whatever the user's ``np.seterr``."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        outer = _users.get()
        token = _users.set({**np.geterr()} if outer is None else outer)
        try:
            with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
                return function(*args, **kwargs)
        finally:
            _users.reset(token)

    return called


def methods_in_own_errstate(kind: type[T]) -> type[T]:
    """A class whose methods all have `own_errstate`."""
    for name, method in list(vars(kind).items()):
        if isfunction(method):
            setattr(kind, name, own_errstate(method))
    return kind


@contextmanager
def users_errstate() -> Iterator[None]:
    """The user's settings, within a function of `own_errstate`."""
    with np.errstate(**(_users.get() or {})):
        yield
