"""Censored data: limits that the true value lies below or above."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.distributions import Distribution, Terms
from rnshmc.inference.exact.likelihoods.flat import FlatData
from rnshmc.types import Array

Flags = npt.ArrayLike | Sequence[str | int] | None
"""The user's flags of censored data."""
_FLAGS: dict[Any, int] = {"left": -1, "right": 1, -1: -1, 0: 0, 1: 1}
_SMALLEST = 1e-8
"""Lower bound of the curvature of a limit, relative to that of a datum."""


def censored(distribution: Distribution, flags: npt.NDArray[np.intp]) -> Distribution:
    """The distribution of data of which some are limits. New data are not.

    For a limit y with z = (f - y) / scale, -log p is -log G(z) if the true value lies above y, and -log G(-z) if it
    lies below.

    Parameters
    ----------
    distribution
        One that has a tail.
    flags
        -1 where the true value lies below the limit, 1 where it lies above, 0 for a datum; shape (m,).
    """
    tail, at = distribution.tail, np.flatnonzero(flags)
    if tail is None or not len(at):
        return distribution
    signs = flags[at].astype(np.float64)

    def standard(f: Array, y: Array, numbers: tuple[Array, ...]) -> tuple[Array, Array, list[Array]]:
        *shape, scale = (np.broadcast_to(number, f.shape)[:, at] for number in numbers)
        return signs * (f[:, at] - y[at]) / scale, scale, shape

    def terms(f: Array, y: Array, *numbers: Array) -> Terms:
        of_data, slopes, by_numbers = distribution.terms(f, y, *numbers)
        z, scale, shape = standard(f, y, numbers)
        logs, slope, _, by_shape = tail(z, *shape)
        by_limits = (*(-by for by in by_shape), slope * z / scale)
        replaced = tuple(_replaced(by, at, new) for by, new in zip(by_numbers, by_limits, strict=True))
        return _replaced(of_data, at, -logs), _replaced(slopes, at, -slope * signs / scale), replaced

    def curvatures(f: Array, y: Array, *numbers: Array) -> Array:
        z, scale, shape = standard(f, y, numbers)
        of_data = np.broadcast_to(distribution.curvatures(f, y, *numbers), f.shape)
        return _replaced(of_data, at, np.clip(tail(z, *shape)[2], _SMALLEST, 1.0) / scale**2)

    return replace(distribution, terms=terms, curvatures=curvatures)


def bound_flags(given: Flags, data: FlatData) -> npt.NDArray[np.intp]:
    """-1, 0 or 1 at the entries with data, from the user's argument ``censored``; zeros if that is None.

    Raises
    ------
    ParameterError
        If a flag is unknown, or the flags do not broadcast to the data.
    """
    if given is None:
        return np.zeros(len(data.values), dtype=np.intp)
    words = np.array(given, dtype=object)
    flags = np.array([_flag(flag) for flag in words.ravel()], dtype=np.intp).reshape(words.shape)
    return np.asarray(data.spread("censored", flags), dtype=np.intp)


def _flag(flag: Any) -> int:
    # numpy makes "0" of a 0 among words.
    key = 0 if flag == "0" else flag
    if isinstance(flag, bool | np.bool_) or key not in _FLAGS:
        raise ParameterError(f'censored: expected "left" or -1, "right" or 1, or 0, got {flag!r}')
    return _FLAGS[key]


def _replaced(rows: Array, columns: npt.NDArray[np.intp], new: Array) -> Array:
    replaced = np.array(rows)
    replaced[:, columns] = new
    return replaced
