"""A number of ours beside one of paper B's Tables 1, 2, 3 and 5."""

from rnshmc.results.estimates import ITERATIONS
from rnshmc.scorecard.measured import Measured, Tables, measured_cell, rows_where

TABLES = "nng_tables"
"""The table of a run that has all of them (`rnshmc.results.views`)."""


def network_cell(tables: Tables, problem: str, sampler: str, column: str) -> Measured | None:
    """A cell of the run's table; None if it lacks one, or the network was trained on another share than its name says.

    The paper's Table 5 calls its networks by the share of all draws that they are trained on: ``nng_hmc_10`` has seen
    10%. A short run trains them on less, which says nothing of the paper's number.
    """
    rows = rows_where(tables, TABLES, problem=problem, sampler=sampler)
    share = sampler.rpartition("_")[2]
    if rows is not None and share.isdigit() and rows["training_draws"].iloc[0] != int(share) * ITERATIONS // 100:
        return None
    return measured_cell(tables, TABLES, problem, sampler, column)
