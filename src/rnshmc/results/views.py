"""The tables of the papers as views of the table of results, in the papers' columns (papers/views.csv).

The file is shared by the tables, the report and the notebooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.store.csv_rows import read_rows

VIEWS_COLUMNS = ("view", "column", "source", "shown", "quantity", "argument")


@dataclass(frozen=True)
class Column:
    """A column of a view."""

    name: str
    source: str
    """Its name, and the column of `rnshmc.results.tables.results_tables` that it renames."""
    shown: str
    """How the pages of the report show it (`rnshmc.report.sections`); empty if it does not."""
    quantity: str
    argument: str
    """The printed quantity that stands beside it there and, where quantities have the same name, an argument of its
    measure, ``name=value``; empty where there is none."""


View = tuple[Column, ...]


def read_views(path: Path) -> dict[str, View]:
    """The views by their names. Raises `DataError` if the file has other columns than `VIEWS_COLUMNS`."""
    views: dict[str, View] = {}
    for _, row in read_rows(path, VIEWS_COLUMNS):
        column = Column(row["column"], row["source"], row["shown"], row["quantity"], row["argument"])
        views[row["view"]] = (*views.get(row["view"], ()), column)
    return views


def view(results: pd.DataFrame, columns: View, problems: Sequence[str]) -> pd.DataFrame:
    """The rows of selected problems in the columns of a view."""
    rows = results[results["problem"].isin(list(problems))]
    chosen = rows[[column.source for column in columns]]
    return chosen.set_axis([column.name for column in columns], axis="columns").reset_index(drop=True)
