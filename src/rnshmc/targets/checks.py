"""Checks that all targets share: of settings, of data, and of what was evaluated."""

import math
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError, NumericalError, ParameterError, RnshmcError
from rnshmc.files import read_npz
from rnshmc.types import Array

R = TypeVar("R", float, Array)


def check_positive(key: str, number: object) -> None:
    """Refuse what is not a positive, finite number. Raises `ParameterError`, naming ``key``."""
    if not (isinstance(number, int | float | np.number) and math.isfinite(number) and number > 0):
        raise ParameterError(f"{key} must be a positive number, got {number!r}")


def check_finite(name: str, array: Array, error: type[RnshmcError] = DataError) -> None:
    """Refuse a vector or a matrix with an entry that is not finite. Raises ``error``, naming the entry."""
    if not np.isfinite(array).all():
        row, *column = np.argwhere(~np.isfinite(array))[0]
        place = f"row {row}, column {column[0]}" if column else f"entry {row}"
        raise error(f"{name} must be finite, got {array[row, *column]} in {place}")


def checked_rows(X: npt.ArrayLike) -> Array:
    """X as a matrix of finite numbers. Raises `DataError` if it is none, or empty."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise DataError(f"X must have rows and columns, got shape {rows.shape}")
    check_finite("X", rows)
    return rows


def finite(what: str, result: R) -> R:
    """An evaluated number or array. Raises `NumericalError`, naming what was evaluated, if it is not finite."""
    if not np.isfinite(result).all():
        raise NumericalError(f"the {what} is {result if isinstance(result, float) else 'not finite'}")
    return result


def read_arrays(path: str | Path, *names: str) -> tuple[Array, ...]:
    """The named arrays of an npz file that states the origin of its data.

    Raises `DataError` if the file cannot be read, or lacks one of the arrays or ``origin``; the message names the file.
    """
    *arrays, _ = read_npz(path, *names, "origin", says="not a processed data set: {}").values()
    return tuple(arrays)
