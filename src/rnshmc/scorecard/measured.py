"""Our numbers, taken from the tables of a run."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from rnshmc.results.estimates import Estimate

Tables = Mapping[str, pd.DataFrame]
"""Tables of a run by the names of their files; a missing table was not run."""

OTHER_DATA = ("stand-in", "subset")
"""Origins of data that differ from the papers': results based on them are not compared."""
NEARBY = 0.15
"""Relative distance of a sweep's nearest point from the published setting up to which it is used."""


class NotRunError(Exception):
    """The run lacks the data that a number is measured on."""


@dataclass(frozen=True)
class Measured:
    """A number of ours."""

    estimate: Estimate
    """The number and its standard error, NaN where that is not known."""
    samples: int
    kind: str
    """Number of independent values averaged, and what each of them is, such as "chain"."""
    other_data: bool = False
    """Whether it is based on other data than the paper's."""
    effective: float = math.nan
    """For an effective sample size, that of one of our chains before scaling to another length; NaN otherwise."""

    @property
    def over(self) -> str:
        """What is averaged: "1 chain", "5 chains"."""
        return f"{self.samples} {self.kind}{'s' * (self.samples != 1)}"

    @classmethod
    def over_runs(cls, values: Iterable[float], kind: str = "run", *, other_data: bool = False) -> Self:
        """The mean of independent values."""
        sample = list(values)
        return cls(Estimate.over(sample), len(sample), kind, other_data)

    def per(self, other: "Measured") -> "Measured":
        """The ratio to another number, with the errors of both."""
        estimate = self.estimate.per(other.estimate)
        return Measured(estimate, self.samples, self.kind, self.other_data or other.other_data)


def rows_where(tables: Tables, name: str, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a table with these values, or the nearest ones if numeric.

    A numeric setting that has no value within `NEARBY` of it has no rows. Raises `NotRunError` if there are none.
    """
    rows = tables.get(name, pd.DataFrame())
    for column, wanted in where.items():
        if rows.empty:
            break
        nearest = wanted
        if isinstance(wanted, int | float):
            nearest = min(rows[column], key=lambda value, wanted=wanted: abs(value - wanted))  # type: ignore[misc]
            if abs(nearest - wanted) > NEARBY * abs(wanted):
                raise NotRunError(name)
        rows = rows[rows[column] == nearest]
    if rows.empty:
        raise NotRunError(name)
    return rows


def rests_on_other_data(rows: pd.DataFrame) -> bool:
    """Whether any of the rows is of other data than the paper's."""
    return "data" in rows and bool(rows["data"].isin(OTHER_DATA).any())
