"""Cells of the table of results, which has a row for each problem and sampler, and combinations of cells."""

import math
from dataclasses import replace

from rnshmc.results.estimates import UNDEFINED, Estimate
from rnshmc.scorecard.measured import Measured, NotRunError, Tables, rests_on_other_data, rows_where
from rnshmc.scorecard.noise import size_with_error
from rnshmc.scorecard.published import Published

RESULTS = "results"
"""The table of results; its standard errors are in the table of this name plus `ERRORS`."""
ERRORS = "_se"

Draws = int | None
"""Required training draws of the network; a run with another number of them does not measure the number."""


def cell(
    tables: Tables, *, number: Published, column: str, training_draws: Draws = None, iterations: int = 1
) -> Measured:
    """A cell of the number's problem and sampler; seconds per iteration can be those of several iterations."""
    found = _cell(tables, number, column, training_draws)
    return replace(found, estimate=found.estimate.times(iterations))


def ess(tables: Tables, *, number: Published, column: str, training_draws: Draws = None) -> Measured:
    """An effective sample size, scaled to the published number of draws."""
    return _ess(tables, number, column, training_draws)


def efficiency(tables: Tables, *, number: Published, ess: str, seconds: str, training_draws: Draws = None) -> Measured:
    """Effective draws per second, scaled to the published number of draws; `ess` and `seconds` are columns.

    NaN where chains did not mix. The error of a single chain's effective sample size is that of
    `rnshmc.scorecard.noise`.
    """
    size = _ess(tables, number, ess, training_draws)
    if not mixed(tables, number.problem, number.sampler):
        size = replace(size, estimate=UNDEFINED)
    elif math.isnan(size.estimate.error):
        size = replace(size, estimate=size_with_error(size))
    time = _cell(tables, number, seconds, training_draws)
    value, error = time.estimate
    # A single chain's total has no spread: what is known of the ratio's error is that of its effective sample size.
    return size.per(replace(time, estimate=Estimate(value, 0.0 if math.isnan(error) else error)))


def relative_efficiency(
    tables: Tables, *, number: Published, ess: str, seconds: str, other: str, training_draws: Draws = None
) -> Measured:
    """Effective draws per second relative to those of another sampler on the same problem, at equal draws."""
    number = replace(number, draws=1.0)
    base = efficiency(tables, number=replace(number, sampler=other), ess=ess, seconds=seconds)
    if number.sampler == other:
        return replace(base, estimate=Estimate(1.0, 0.0))
    return efficiency(tables, number=number, ess=ess, seconds=seconds, training_draws=training_draws).per(base)


def mixed(tables: Tables, problem: str, sampler: str) -> bool:
    """Whether the chains of a sampler mixed (`rnshmc.results.tables`)."""
    return bool(rows_where(tables, RESULTS, {"problem": problem, "sampler": sampler})["mixed"].iloc[0])


def _cell(tables: Tables, number: Published, column: str, training_draws: Draws = None) -> Measured:
    where = {"problem": number.problem, "sampler": number.sampler}
    values, errors = (rows_where(tables, name, where) for name in (RESULTS, RESULTS + ERRORS))
    if training_draws is not None and values["training_draws"].iloc[0] != training_draws:
        raise NotRunError(RESULTS)
    chains = int(values["chains"].iloc[0])
    estimate = Estimate(float(values[column].iloc[0]), float(errors[column].iloc[0]))
    return Measured(estimate, chains, "chain", rests_on_other_data(values))


def _ess(tables: Tables, number: Published, column: str, training_draws: Draws) -> Measured:
    size, kept = _cell(tables, number, column, training_draws), _cell(tables, number, "draws").estimate.value
    return replace(size, estimate=size.estimate.times(number.draws / kept), effective=size.estimate.value)
