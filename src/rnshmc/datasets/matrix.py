"""Data of a logistic regression: design matrix, labels and origin."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, get_args

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError
from rnshmc.files import NpzRecord, naming_file, read_npz
from rnshmc.types import Array, Origin

Labels = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class LogisticData(NpzRecord):
    """N observations of d covariates and a binary response.

    Raises `DataError` on construction if the shapes disagree, an entry is not finite, a label is not 0 or 1 or only one
    occurs; the message names row and column.
    """

    X: Array
    """Design matrix, shape (N, d), float64 in C order."""
    y: Labels
    """Labels 0 and 1, shape (N,), uint8; both occur."""
    origin: Origin
    """Where the data came from; see `rnshmc.types.Origin`."""
    columns: tuple[str, ...]
    """Names of the d columns."""

    def __post_init__(self) -> None:
        _check_labels(self.y)
        if self.X.shape != (len(self.y), len(self.columns)):
            raise DataError(f"X has shape {self.X.shape}, expected ({len(self.y)}, {len(self.columns)})")
        if self.X.dtype != np.float64 or not self.X.flags.c_contiguous:
            raise DataError(f"X is {self.X.dtype} and not C-ordered float64")
        if not np.isfinite(self.X).all():
            row, column = np.argwhere(~np.isfinite(self.X))[0]
            raise DataError(f"row {row}, column {self.columns[column]!r}: {self.X[row, column]} is not finite")
        if self.origin not in get_args(Origin):
            raise DataError(f"origin is {self.origin!r}, expected one of {', '.join(get_args(Origin))}")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an npz file with X, y and origin; unnamed columns are numbered.

        Raises `DataError` if the file is damaged, lacks an array, or holds what the attributes forbid; the message
        names the file.
        """
        arrays = read_npz(path)
        if missing := [name for name in ("X", "y", "origin") if name not in arrays]:
            raise DataError(f"{path}: no array {missing[0]!r}")
        X = np.ascontiguousarray(arrays["X"])
        names = arrays.get("columns", np.arange(X.shape[-1]))
        with naming_file(path):
            return cls(X, arrays["y"], str(arrays["origin"]), tuple(map(str, names)))  # type: ignore[arg-type]


def of_file(path: str | Path, X: Array, labels: Labels, columns: Sequence[str]) -> LogisticData:
    """Real data from a raw file, which the message of a `DataError` names."""
    with naming_file(path):
        return LogisticData(np.ascontiguousarray(X), labels, "real", tuple(columns))


def standardise(data: LogisticData, columns: Sequence[str] | None = None) -> LogisticData:
    """Shift and scale columns, all if none are named, to mean 0 and standard deviation 1 (divisor N - 1).

    Raises `DataError` if there is no column of a name, or it is constant; the message names it.
    """
    columns = data.columns if columns is None else columns
    if unknown := set(columns) - set(data.columns):
        raise DataError(f"no column {', '.join(sorted(unknown))} to standardise")
    where = [data.columns.index(name) for name in columns]
    chosen = np.ascontiguousarray(data.X[:, where])
    for name, column in zip(columns, chosen.T, strict=True):
        if np.ptp(column) == 0:
            rows = f"{column[0]:g} in all {len(data.y)} rows"
            raise DataError(f"column {name!r} is constant ({rows}) and cannot be standardised")
    # Centred twice: a sum over many rows of a column far from zero loses digits.
    centred = chosen - chosen.mean(axis=0)
    centred -= centred.mean(axis=0)
    X = data.X.copy()
    X[:, where] = centred / centred.std(axis=0, ddof=1)
    return replace(data, X=X)


def onto_unit_range(data: LogisticData) -> LogisticData:
    """Map every column linearly onto [0, 1], from its minimum to its maximum; a constant column becomes 0."""
    low, width = data.X.min(axis=0), np.ptp(data.X, axis=0)
    return replace(data, X=(data.X - low) / np.where(width > 0, width, 1.0))


def with_intercept(data: LogisticData) -> LogisticData:
    """Put a column of ones in front."""
    X = np.column_stack((np.ones(len(data.y)), data.X))
    return replace(data, X=X, columns=("intercept", *data.columns))


def _check_labels(y: Labels) -> None:
    if y.ndim != 1 or y.dtype != np.uint8:
        raise DataError(f"y is {y.dtype} of shape {y.shape}, expected uint8 of shape (N,)")
    if (y > 1).any():
        row = int(np.argmax(y > 1))
        raise DataError(f"row {row}: label {y[row]} is not 0 or 1")
    if not (y.any() and (y == 0).any()):
        raise DataError(f"only one of the labels 0 and 1 occurs in {len(y)} rows")
