"""Means over the independent runs of an experiment, and how two settings compare.

`table` is a table of the run and `column` one of its columns; `per` names the columns that identify independent runs.
Every other argument is a column and its required value (`rnshmc.scorecard.measured.rows_where`); `first` and `last` are
columns of which only the smallest or the largest value is used; `along` is the column that a sweep varies.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
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


def paired(
    tables: Tables,
    *,
    ratio: bool,
    table: str,
    column: str,
    key: str,
    name: float | str,
    other: float | str,
    per: Names,
    first: str = "",
    last: str = "",
    **where: Any,
) -> Measured:
    """Where `key` is `name` compared with where it is `other`, run by run: the geometric mean ratio or mean difference.

    `name` and `other` can be ``largest`` and ``smallest``, the ends of a sweep.
    """
    settings = rows_where(tables, table, where)[key]
    if settings.nunique() < 2:
        raise NotRunError(key)
    ends = {"smallest": settings.min(), "largest": settings.max()}
    rows, others = (
        selected(tables, table, {**where, key: ends.get(str(value), value)}, first=first, last=last)
        for value in (name, other)
    )
    ours, theirs = (by_run(part, part[column], per) for part in (rows, others))
    compared = (ours / theirs if ratio else ours - theirs).dropna()
    if compared.empty:
        raise NotRunError(table)
    if not ratio:
        return over(compared, per, rows)
    logarithm = over(compared.apply(np.log), per, rows)
    value = math.exp(logarithm.estimate.value)
    return replace(logarithm, estimate=Estimate(value, value * logarithm.estimate.error))


def exponent(tables: Tables, *, table: str, column: str, along: str, per: str, **where: Any) -> Measured:
    """The exponent p of number ~ `along`^p: one least-squares line through the logarithms per run."""
    rows = rows_where(tables, table, where)
    if rows[along].nunique() < 2:
        raise NotRunError(along)
    curves = rows.pivot_table(index=per, columns=along, values=column).dropna()
    settings = np.log(curves.columns.to_numpy(dtype=float))
    slopes = [float(np.polyfit(settings, np.log(curve), 1)[0]) for curve in curves.to_numpy(dtype=float)]
    return over(pd.Series(slopes), per, rows)


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
    kind = _names(per)[-1] if per else "run"
    return Measured.over_runs(values, kind, other_data=rests_on_other_data(rows))


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
