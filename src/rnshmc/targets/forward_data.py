"""Files of the forward model: a user's observations, observations with a prior ensemble, posterior predictions."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnshmc.errors import DataError
from rnshmc.files import NpzRecord
from rnshmc.types import Array

COLUMNS = ("x1", "x2", "u")


@dataclass(frozen=True)
class ForwardData(NpzRecord):
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

    def prior_training_set(self) -> tuple[Array, Array]:
        """The draws from the prior, shape (m, d), and the potential at each, shape (m,), without new solves."""
        misfit = ((self.prior_predictive - self.observations) ** 2).sum(axis=1) / self.noise_sd**2
        return self.prior_theta, 0.5 * (misfit + (self.prior_theta**2).sum(axis=1) / self.prior_sd**2)


@dataclass(frozen=True)
class Predictions(NpzRecord):
    """Pressures at draws from the posterior."""

    sampler: str
    """Name of the sampler of the draws."""
    pressures: Array
    """Model output at each draw and point, without noise, shape (m, n)."""


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
            rows = [[_number(row, column, f"{path}: row {reader.line_num}") for column in COLUMNS] for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: {error}") from error
    if not rows:
        raise DataError(f"{path}: no observations below the header")
    table = np.array(rows)
    return table[:, :2].copy(), table[:, 2].copy()


def _number(row: Mapping[str, str | None], column: str, place: str) -> float:
    """A finite number; a coordinate is in the unit square."""
    text = row[column]
    try:
        number = float(text or "")
    except ValueError:
        raise DataError(f"{place}, column {column!r}: {text!r} is not a number") from None
    if not np.isfinite(number):
        raise DataError(f"{place}, column {column!r}: {text!r} is not finite")
    if column != "u" and not 0.0 <= number <= 1.0:
        raise DataError(f"{place}, column {column!r}: {number} lies outside the unit square")
    return number
