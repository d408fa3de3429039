"""How a number changes along a sweep: its ends, its best, its growth.

`along` is the column that the sweep varies; the other arguments are those of `rnshmc.scorecard.measures.runs`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured, NotRunError, Tables
from rnshmc.scorecard.measures.runs import geometric, over, selected


def change(tables: Tables, *, table: str, column: str, along: str, per: str, **where: Any) -> Measured:
    """The number at the largest setting minus that at the smallest, run by run."""
    curves = _curves(selected(tables, table, where), column, along, per)
    return over(curves.iloc[:, -1].sub(curves.iloc[:, 0]), per, tables[table])


def exponent(tables: Tables, *, table: str, column: str, along: str, per: str, **where: Any) -> Measured:
    """The exponent p of number ~ setting^p: one least-squares line through the logarithms per run."""
    curves = _curves(selected(tables, table, where), column, along, per)
    settings = np.log(curves.columns.to_numpy(dtype=float))
    slopes = [float(np.polyfit(settings, np.log(curve), 1)[0]) for curve in curves.to_numpy(dtype=float)]
    return over(pd.Series(slopes), per, tables[table])


def end_over_start(tables: Tables, *, table: str, column: str, along: str, per: str, **where: Any) -> Measured:
    """The number at the largest setting over that at the smallest, run by run."""
    curves = _curves(selected(tables, table, where), column, along, per)
    return geometric(curves.iloc[:, -1] / curves.iloc[:, 0], per, tables[table])


def end_over_best(tables: Tables, *, table: str, column: str, along: str, per: str, **where: Any) -> Measured:
    """The number at the largest setting over that at the best, below 1 once it drops: run by run.

    The best setting is that of the largest median over runs.
    """
    curves = _curves(selected(tables, table, where), column, along, per)
    return geometric(curves.iloc[:, -1] / _at_best(curves), per, tables[table])


def best_over_others(
    tables: Tables,
    *,
    table: str,
    column: str,
    along: str,
    per: str,
    key: str,
    name: str,
    others: Sequence[str],
) -> Measured:
    """The number of a method at its best setting over that of the best of others, run by run."""
    best, *others_best = (
        _at_best(_curves(selected(tables, table, {key: method}), column, along, per)) for method in (name, *others)
    )
    rival = max(others_best, key=lambda values: float(values.median()))
    return geometric((best / rival).dropna(), per, tables[table])


def high_until(
    tables: Tables,
    *,
    table: str,
    column: str,
    relative: str,
    share: float,
    along: str,
    per: str,
    **where: Any,
) -> Measured:
    """The largest setting up to which the mean is at least some share of that of another column; 0 if at none."""
    rows = selected(tables, table, where)
    means = rows.groupby(along)[[column, relative]].mean().sort_index()
    high = means[column] >= share * means[relative]
    last = means.index[high.cummin()].max() if high.iloc[0] else 0
    runs = rows[per].nunique()
    return Measured(Estimate(float(last), math.nan), runs, per)


def _curves(rows: pd.DataFrame, column: str, along: str, per: str) -> pd.DataFrame:
    """A row for each run and a column for each setting, increasing, of which there have to be two."""
    if rows[along].nunique() < 2:
        raise NotRunError(along)
    return rows.pivot_table(index=per, columns=along, values=column).dropna()


def _at_best(curves: pd.DataFrame) -> "pd.Series[float]":
    return curves[curves.median().idxmax()]
