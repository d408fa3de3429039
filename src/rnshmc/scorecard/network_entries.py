"""Each cell of paper B's Tables 1, 2, 3 and 5 beside ours."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.errors import DataError
from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.results.names import sampler_label
from rnshmc.scorecard.entries import PAPER_B, Entry
from rnshmc.scorecard.measured import Measured, Tables, rows_where
from rnshmc.scorecard.network_cells import TABLES, network_cell
from rnshmc.scorecard.rules import Rule, network_rule

PUBLISHED_COLUMNS = (
    "table",
    "problem",
    "sampler",
    "ap",
    "ess_min",
    "ess_median",
    "ess_max",
    "cpu_s",
    "median_ess_per_s",
    "speedup",
)
PAPER_B_DRAWS = {1: 9000, 2: 9000, 3: 10_000, 5: 10_000}
"""Kept draws behind a row of each table: 10000 without the first tenth, as each table says. But Tables 3 and 5 print
effective sample sizes above 9000 (9201, 9390 and twice 10000), which by either definition takes as many draws."""
PAPER_B_CHAINS = 1
"""Chains behind a row: the text speaks of one."""
_ESS = tuple(f"ess_{part}" for part in ("min", "median", "max"))
_PUBLISHED = {
    **{name: name for name in ("ap", *_ESS)},
    **{f"truncated_{name}": name for name in _ESS},
    **{name: name for name in ("cpu_s", "median_ess_per_s", "speedup")},
}
"""The printed column that each quantity stands beside: the paper does not say which ESS it prints."""
_SAMPLING = {"cpu_s": "sample_s"}
_CHOSEN = {
    ("garch", "ap"): "the series, which is not printed, was chosen by it",
    ("census", "ess"): "the prior, which is not printed, was chosen by it",
    **{(name, "ap"): "the step size, which is not printed, was chosen by it" for name in ("news", "census", "dota2")},
}
"""Numbers of HMC by which an open setting was chosen: that ours are near them says nothing."""
_ALL = {"cpu_s": "total_s", "median_ess_per_s": "total_median_ess_per_s", "speedup": "total_speedup"}
COUNTS_TRAINING = 5
"""The table whose seconds include what the network was trained on, and its training (paper B, section 4.6)."""


def read_network_tables(path: Path) -> pd.DataFrame:
    """Read the published tables: columns `PUBLISHED_COLUMNS`, a row per problem and sampler.

    Raises
    ------
    DataError
        If the file has other columns.
    """
    table = pd.read_csv(path)
    if tuple(table.columns) != PUBLISHED_COLUMNS:
        raise DataError(f"{path}: expected the columns {', '.join(PUBLISHED_COLUMNS)}")
    return table


def network_entries(tables: Tables, published: pd.DataFrame) -> Iterator[Entry]:
    """A row of the scorecard for each published number; each ESS stands beside ours by either definition.

    Parameters
    ----------
    tables
        The tables of a run, of which nng_tables and nng_tables_se are used.
    published
        From `read_network_tables`.
    """
    for row in published.to_dict("records"):
        problem, sampler, table = str(row["problem"]), str(row["sampler"]), int(row["table"])
        for quantity, column in _PUBLISHED.items():
            own = _circular(problem, sampler, quantity)
            yield Entry(
                item=f"{PAPER_B}table{table}/{problem}/{sampler}",
                quantity=quantity,
                paper=float(row[column]),
                measured=_cell(tables, table, problem, sampler, quantity),
                rule=Rule("never") if own else network_rule(table, quantity),
                remark=own or _remark(tables, published, row, quantity),
                chains=PAPER_B_CHAINS,
            )


def _circular(problem: str, sampler: str, quantity: str) -> str:
    """Why a number of HMC cannot be judged; empty if it can."""
    if sampler != BASELINE:
        return ""
    if quantity == "speedup":
        return "1 by definition"
    kind = "ess" if quantity.endswith(_ESS) else quantity
    return _CHOSEN.get((problem, kind), "")


def _our_column(table: int, quantity: str) -> str:
    names = _ALL if table == COUNTS_TRAINING else _SAMPLING
    return names.get(quantity, quantity)


def _cell(tables: Tables, table: int, problem: str, sampler: str, quantity: str) -> Measured | None:
    """Ours, effective sample sizes scaled to the paper's draws."""
    found = network_cell(tables, problem, sampler, _our_column(table, quantity))
    if found is None or not quantity.endswith(_ESS):
        return found
    scale = PAPER_B_DRAWS[table] / _draws(tables, problem, sampler)
    return replace(found, estimate=Estimate(*(scale * number for number in found.estimate)))


def _draws(tables: Tables, problem: str, sampler: str) -> float:
    rows = rows_where(tables, TABLES, problem=problem, sampler=sampler)
    return math.nan if rows is None else float(rows["draws"].iloc[0])


def _remark(tables: Tables, published: pd.DataFrame, row: Mapping[Any, Any], quantity: str) -> str:
    """Of a scaled effective sample size, its draws; for seconds, what can be compared: their ratio to those of HMC."""
    problem, sampler, table = str(row["problem"]), str(row["sampler"]), int(row["table"])
    if quantity.endswith(_ESS):
        draws = _draws(tables, problem, sampler)
        return "" if math.isnan(draws) or draws == PAPER_B_DRAWS[table] else f"scaled from {draws:.0f} draws"
    if quantity not in ("cpu_s", "median_ess_per_s"):
        return ""
    ours = [_cell(tables, table, problem, name, quantity) for name in (sampler, BASELINE)]
    if quantity != "cpu_s" or sampler == BASELINE or ours[0] is None or ours[1] is None:
        return "another machine"
    exact = published[(published["problem"] == problem) & (published["sampler"] == BASELINE)]
    ratios = (row["cpu_s"] / exact["cpu_s"].iloc[0], ours[0].estimate.value / ours[1].estimate.value)
    paper, mine = (f"{float(ratio):.3g}" for ratio in ratios)
    return f"another machine; relative to {sampler_label(BASELINE)}: paper {paper}, ours {mine}"
