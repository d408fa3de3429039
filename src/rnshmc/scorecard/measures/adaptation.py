"""Figs. 7 and 8 of paper A: acceptance by training points, and the error of the mean by seconds."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured, NotRunError, Tables, rests_on_other_data, rows_where
from rnshmc.scorecard.published import Published

ACCEPTANCE, ERROR = "fig7", "fig8"
TIMES = 50
"""Times, evenly spread on a logarithmic axis, at which two errors are compared."""


def final_acceptance(tables: Tables, *, number: Published) -> Measured:
    """Acceptance of the adaptive sampler in the last tenth of its chains, relative to that of HMC."""
    rows = rows_where(tables, ACCEPTANCE, {"problem": number.problem, "sampler": number.sampler})
    late = rows[rows["training_points"] >= rows["training_points"].quantile(0.9)]
    ratios = (late["ap"] / late["hmc_ap"]).groupby(late["chain"]).mean()
    return Measured.over_runs(ratios, "chain", other_data=rests_on_other_data(rows))


def early_error(tables: Tables, *, number: Published, other: str, switch: str) -> Measured:
    """Relative error of the mean over that of another sampler when a third takes over: root mean squares over chains.

    The third is `switch`, which is HMC until then.
    """
    where = {"problem": number.problem}
    late = rows_where(tables, ERROR, {**where, "sampler": switch, "phase": "sample"})
    mine, theirs = (rows_where(tables, ERROR, {**where, "sampler": name}) for name in (number.sampler, other))
    end = float(late["seconds"].min())
    squares = [_errors_at(part, end) ** 2 for part in (mine, theirs)]
    ratio = Estimate.over(squares[0]).per(Estimate.over(squares[1]))
    root = math.sqrt(ratio.value)
    chains = len(squares[0])
    estimate = Estimate(root, ratio.error / (2 * root))
    return Measured(estimate, chains, "chain", rests_on_other_data(mine))


def overall_error(tables: Tables, *, number: Published, other: str) -> Measured:
    """Relative error of the mean over that of another sampler at equal seconds, while both are running.

    The logarithms of the root mean squares over chains are averaged over `TIMES`, from the first draw of the adaptive
    sampler, before which all are HMC, to the end of the shorter run. The standard error leaves out one chain of both
    at a time.
    """
    where = {"problem": number.problem}
    mine, theirs = (rows_where(tables, ERROR, {**where, "sampler": name}) for name in (number.sampler, other))
    start = float(mine.loc[mine["phase"] == "sample", "seconds"].min())
    end = float(min(part.groupby("chain")["seconds"].max().min() for part in (mine, theirs)))
    if not start < end:
        raise NotRunError(ERROR)
    times = np.geomspace(start, end, TIMES)
    squares = [pd.DataFrame([_errors_at(part, time) ** 2 for time in times]) for part in (mine, theirs)]
    chains = [chain for chain in squares[0].columns if chain in squares[1].columns]
    value = _mean_log(squares, chains)
    leave_one_out = [_mean_log(squares, [chain for chain in chains if chain != out]) for out in chains]
    error = math.sqrt((len(chains) - 1) * np.var(leave_one_out)) if len(chains) > 1 else math.nan
    ratio = math.exp(value)
    return Measured(Estimate(ratio, ratio * error), len(chains), "chain", rests_on_other_data(mine))


def _mean_log(squares: list[pd.DataFrame], chains: Sequence[Hashable]) -> float:
    """Mean over times of the logarithm of the ratio of two root mean squares over chains."""
    if not chains:
        return math.nan
    mine, theirs = (part[list(chains)].mean(axis=1) for part in squares)
    return float(np.log(mine / theirs).mean() / 2)


def _errors_at(rows: pd.DataFrame, seconds: float) -> pd.Series:
    """The error of each chain at its last point until then."""
    return rows[rows["seconds"] <= seconds].sort_values("seconds").groupby("chain")["rem"].last()
