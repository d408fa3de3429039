"""The problems of a run with their numbers as text: ours, standard errors, and the papers'."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rnshmc.report.table_text import Number, fixed, plus_minus, significant
from rnshmc.results.names import Titles, sampler_label
from rnshmc.results.views import Column, View
from rnshmc.scorecard.published import Published, printed_cells

_FORMATS: Mapping[str, Callable[[float], str]] = {
    "significant": significant,
    **{f"fixed {decimals}": fixed(decimals) for decimals in range(4)},
}
"""How a column of a view is shown."""
UNCORRECTED = "sghmc"
"""The recipe without a Metropolis step: its draws have another distribution, so their ESS is not meaningful."""


@dataclass(frozen=True)
class Row:
    """A sampler's row: the shown columns of the view by their names."""

    sampler: str
    numbers: Mapping[str, Number]
    loaded: bool
    """Whether the machine was busy while its seconds were measured."""


@dataclass(frozen=True)
class Section:
    """A problem and its samplers."""

    problem: str
    title: str
    origin: str
    """Origin of its data."""
    rows: tuple[Row, ...]


def sections(
    table: pd.DataFrame, errors: pd.DataFrame, columns: View, numbers: Sequence[Published], titles: Titles
) -> list[Section]:
    """The problems of a view in the order of its rows, without samplers that have no Metropolis step.

    `table` and `errors` are the results in the view `columns` and their standard errors (`rnshmc.results.views.view`);
    `numbers` are the published numbers that are shown.
    """
    kept = table[table["recipe"] != UNCORRECTED] if "recipe" in table else table
    return [
        Section(
            problem=str(problem),
            title=titles[str(problem)],
            origin=str(rows["data"].iloc[0]),
            rows=tuple(_row(table.loc[index], errors.loc[index], columns, numbers) for index in rows.index),
        )
        for problem, rows in kept.groupby("problem", sort=False)
    ]


def _row(ours: "pd.Series[Any]", errors: "pd.Series[Any]", columns: View, numbers: Sequence[Published]) -> Row:
    printed = printed_cells(numbers, str(ours["problem"]), str(ours["sampler"]))
    return Row(
        sampler=sampler_label(str(ours["sampler"])),
        numbers={
            column.name: Number(
                _FORMATS[column.shown](ours[column.name]),
                plus_minus(errors[column.name]),
                _printed(column, printed, int(ours["draws"])),
            )
            for column in columns
            if column.shown
        },
        loaded=bool(ours["loaded"]),
    )


def _printed(column: Column, cells: Mapping[str, Published], draws: int) -> str:
    """The printed number beside a column: an ESS scaled to our draws, any other with its printed digits."""
    cell = cells.get(column.quantity)
    if cell is None:
        return ""
    name, _, value = column.argument.partition("=")
    if name and cell.arguments.get(name) != value:
        return ""
    if cell.measure == "ess":
        return f"{cell.printed * draws / cell.draws:.0f}"
    text = f"{cell.printed:.2f}"
    return text if float(text) == cell.printed else f"{cell.printed:g}"
