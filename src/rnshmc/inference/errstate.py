"""What NumPy does at floating-point errors: its default in computations of ours, and in the user's as the user has it.

Underflow of a weight is no error, but ``np.seterr(all="raise")`` would make it one.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_users: ContextVar[Mapping[str, Any] | None] = ContextVar("users", default=None)
"""What was set where the first of these functions that is running was called; None where there is none."""


def own_errstate(function: Callable[P, R]) -> Callable[P, R]:
    """The function with NumPy's default."""

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
    """A class with all its methods as `own_errstate` makes them."""
    for name, method in list(vars(kind).items()):
        if isfunction(method):
            setattr(kind, name, own_errstate(method))
    return kind


@contextmanager
def users_errstate() -> Iterator[None]:
    """Within a function of `own_errstate`, what was set where it was called."""
    with np.errstate(**(_users.get() or {})):
        yield
