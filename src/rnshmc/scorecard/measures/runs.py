"""Means over the independent runs of an experiment, and how two settings compare.

`table` is a table of the run and `column` one of its columns; `per` names the columns that identify independent runs.
Every other argument is a column and its required value (`rnshmc.scorecard.measured.rows_where`); `first` and `last` are
columns of which only the smallest or the largest value is used.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured, NotRunError, Tables, rests_on_other_data, rows_where

Names = str | Sequence[str]


def mean(
    tables: Tables, *, table: str, column: str, relative: str = "", per: Names = (), last: str = "", **where: Any
) -> Measured:
    """The mean of a column, or of its ratio to another of the same row."""
    rows = selected(tables, table, where, last=last)
    values = rows[column] / rows[relative] if relative else rows[column]
    return over(by_run(rows, values, per), per, rows)


def ratio_of_means(
    tables: Tables,
    *,
    table: str,
    column: str,
    key: str,
    name: float | str,
    other: float | str,
    per: Names = (),
    **where: Any,
) -> Measured:
    """The mean where `key` is `name` over that where it is `other`."""
    first, second = (
        mean(tables, table=table, column=column, per=per, **{**where, key: value}) for value in (name, other)
    )
    return first.per(second)


def paired_ratio(
    tables: Tables,
    *,
    table: str,
    column: str,
    key: str,
    name: float | str,
    other: float | str,
    per: Names,
    last: str = "",
    **where: Any,
) -> Measured:
    """Where `key` is `name` over where it is `other`, run by run: the geometric mean over runs."""
    rows = [selected(tables, table, {**where, key: value}, last=last) for value in (name, other)]
    first, second = (by_run(part, part[column], per) for part in rows)
    return geometric((first / second).dropna(), per, rows[0])


def paired_difference(
    tables: Tables,
    *,
    table: str,
    column: str,
    key: str,
    name: float | str,
    other: float | str,
    per: Names,
    first: str = "",
    **where: Any,
) -> Measured:
    """Where `key` is `name` minus where it is `other`, run by run."""
    rows = [selected(tables, table, {**where, key: value}, first=first) for value in (name, other)]
    ours, theirs = (by_run(part, part[column], per) for part in rows)
    differences = (ours - theirs).dropna()
    if differences.empty:
        raise NotRunError(table)
    return over(differences, per, rows[0])


def selected(tables: Tables, table: str, where: dict[str, Any], *, first: str = "", last: str = "") -> pd.DataFrame:
    """The rows selected by the arguments."""
    rows = rows_where(tables, table, where)
    if first:
        rows = rows[rows[first] == rows[first].min()]
    return rows[rows[last] == rows[last].max()] if last else rows


def by_run(rows: pd.DataFrame, values: pd.Series, per: Names) -> "pd.Series[Any]":
    """The mean of some values in each independent run."""
    return (
        values.astype(float).groupby([rows[name] for name in _names(per)]).mean() if per else pd.Series([values.mean()])
    )


def over(values: "pd.Series[Any]", per: Names, rows: pd.DataFrame) -> Measured:
    """The mean of independent values."""
    return Measured.over_runs(values, _kind(per), other_data=rests_on_other_data(rows))


def geometric(ratios: "pd.Series[Any]", per: Names, rows: pd.DataFrame) -> Measured:
    """The geometric mean of independent ratios."""
    if ratios.empty:
        raise NotRunError
    logarithms = Estimate.over(np.log(ratios))
    ratio = math.exp(logarithms.value)
    estimate = Estimate(ratio, ratio * logarithms.error)
    return Measured(estimate, len(ratios), _kind(per), rests_on_other_data(rows))


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _kind(per: Names) -> str:
    return _names(per)[-1] if per else "run"
