"""A number of ours, as the scorecard takes it from the tables of a run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from rnshmc.results.estimates import Estimate

Tables = Mapping[str, pd.DataFrame]
"""Tables of a run by the names of their files; what is missing was not run."""

OTHER_DATA = ("stand-in", "subset")
"""Origins of data that are not those of the papers: nothing made from them is compared with what is printed."""


@dataclass(frozen=True)
class Measured:
    """A number of ours, what its standard error was taken over, and whether it rests on other data than the paper's."""

    estimate: Estimate
    samples: int
    over: str
    other_data: bool = False

    @classmethod
    def over_runs(cls, values: Iterable[float], kind: str = "run", *, other_data: bool = False) -> Self:
        """The mean of independent values."""
        sample = list(values)
        return cls(Estimate.over(sample), len(sample), f"{len(sample)} {kind}{'s' * (len(sample) != 1)}", other_data)


Measure = Callable[[Tables], Measured | None]


def rows_where(tables: Tables, name: str, **where: object) -> pd.DataFrame | None:
    """The rows of a table with these values; None if there are none."""
    if name not in tables:
        return None
    rows = tables[name]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return None if rows.empty else rows


def measured_cell(tables: Tables, table: str, problem: str, sampler: str, column: str) -> Measured | None:
    """A number of a table with its standard error, which stands in the table named `table`_se; None if it lacks one."""
    values, errors = (rows_where(tables, name, problem=problem, sampler=sampler) for name in (table, f"{table}_se"))
    if values is None or errors is None:
        return None
    row, chains = values.iloc[0], int(values["chains"].iloc[0])
    estimate = Estimate(float(row[column]), float(errors[column].iloc[0]))
    return Measured(estimate, chains, f"{chains} chain{'s' * (chains != 1)}", other_data=row["data"] in OTHER_DATA)
