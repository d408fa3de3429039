"""How a number changes along a sweep: its ends and its growth.

`along` is the column that the sweep varies; the other arguments are those of `rnshmc.scorecard.measures.runs`.
"""

from typing import Any

import numpy as np
import pandas as pd

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


def _curves(rows: pd.DataFrame, column: str, along: str, per: str) -> pd.DataFrame:
    """A row for each run and a column for each setting, increasing, of which there have to be two."""
    if rows[along].nunique() < 2:
        raise NotRunError(along)
    return rows.pivot_table(index=per, columns=along, values=column).dropna()
