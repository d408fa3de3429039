"""Files of the forward-model stage: a user's observations, and the resulting observations and prior ensemble."""

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError
from rnshmc.files import atomic_path, read_npz
from rnshmc.types import Array

COLUMNS = ("x1", "x2", "u")


@dataclass(frozen=True)
class ForwardData:
    """Output of the forward model, read by the chains and the report."""

    points: Array
    """Where the pressure is observed, shape (n, 2)."""
    observations: Array
    """What the posterior is conditioned on, shape (n,)."""
    observations_clean: Array
    """Model output at ``theta_true``, shape (n,); NaN where the observations were not simulated here."""
    theta_true: Array
    """Parameters behind simulated observations, shape (d,); NaN where these are not known."""
    prior_theta: Array
    """Draws from the prior, shape (m, d)."""
    prior_predictive: Array
    """Model output at these, without noise, shape (m, n)."""
    noise_sd: float
    prior_sd: float
    """Standard deviations of the noise and of the prior."""
    origin: str
    """``"simulated"``, ``"published"`` or ``"user"``."""

    def save(self, path: str | Path) -> None:
        """Write an npz file atomically; equal data give equal bytes."""
        with atomic_path(Path(path)) as temporary:
            np.savez(temporary, **asdict(self))

    def prior_training_set(self) -> tuple[Array, Array]:
        """The draws from the prior, shape (m, d), and the potential at each, shape (m,), without new solves."""
        misfit = ((self.prior_predictive - self.observations) ** 2).sum(axis=1) / self.noise_sd**2
        return self.prior_theta, 0.5 * (misfit + (self.prior_theta**2).sum(axis=1) / self.prior_sd**2)

    @classmethod
    def load(cls, path: str | Path) -> "ForwardData":
        """Read a file written by `save`.

        Raises `DataError` if the file cannot be read or lacks an entry; the message names both.
        """
        arrays = read_npz(path, *(field.name for field in fields(cls)))
        entries: dict[str, Any] = {name: entry.item() if entry.ndim == 0 else entry for name, entry in arrays.items()}
        return cls(**entries)


def read_observations(path: str | Path) -> tuple[Array, Array]:
    """Read a user's observations from a CSV file with the columns x1, x2 and u, in any order.

    Points, shape (n, 2), are in the closed unit square; pressures there have shape (n,). Raises `DataError` if the file
    cannot be read, lacks a column, has no rows, holds something other than finite numbers, or a point lies outside the
    unit square. The message names file, row (the header is row 1) and column.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            for column in COLUMNS:
                if column not in (reader.fieldnames or ()):
                    raise DataError(f"{path}: row 1: no column {column!r}")
            table = np.array([_numbers(row, f"{path}: row {reader.line_num}") for row in reader])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: {error}") from error
    if table.size == 0:
        raise DataError(f"{path}: no observations below the header")
    return table[:, :2].copy(), table[:, 2].copy()


def _numbers(row: dict[str, str | None], place: str) -> list[float]:
    """x1, x2 and u of one row."""
    numbers = [_number(row[column], f"{place}, column {column!r}") for column in COLUMNS]
    for column, number in zip(COLUMNS[:2], numbers, strict=False):
        if not 0.0 <= number <= 1.0:
            raise DataError(f"{place}, column {column!r}: {number} lies outside the unit square")
    return numbers


def _number(text: str | None, place: str) -> float:
    """A finite number."""
    try:
        number = float(text or "")
    except ValueError:
        raise DataError(f"{place}: {text!r} is not a number") from None
    if not np.isfinite(number):
        raise DataError(f"{place}: {text!r} is not finite")
    return number
