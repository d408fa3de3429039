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


def cell(tables: Tables, *, number: Published, column: str, training_draws: Draws = None) -> Measured:
    """A cell of the number's problem and sampler."""
    return _cell(tables, number.problem, number.sampler, column, training_draws)


def ess(tables: Tables, *, number: Published, column: str, training_draws: Draws = None) -> Measured:
    """An effective sample size, scaled to the published number of draws."""
    return _scaled_ess(tables, number.problem, number.sampler, column, number.draws, training_draws)


def seconds(tables: Tables, *, number: Published, column: str, iterations: int) -> Measured:
    """Seconds of some iterations, from a column of seconds per iteration."""
    return _scaled(_cell(tables, number.problem, number.sampler, column), iterations)


def efficiency(tables: Tables, *, number: Published, ess: str, seconds: str, training_draws: Draws = None) -> Measured:
    """Effective draws per second, scaled to the published number of draws; `ess` and `seconds` are columns."""
    return _efficiency(tables, number.problem, number.sampler, (ess, seconds), training_draws, number.draws)


def relative_efficiency(
    tables: Tables, *, number: Published, ess: str, seconds: str, other: str, training_draws: Draws = None
) -> Measured:
    """Effective draws per second relative to those of another sampler on the same problem."""
    base = _efficiency(tables, number.problem, other, (ess, seconds), None)
    if number.sampler == other:
        return replace(base, estimate=Estimate(1.0, 0.0))
    return _efficiency(tables, number.problem, number.sampler, (ess, seconds), training_draws).per(base)


def _cell(tables: Tables, problem: str, sampler: str, column: str, training_draws: Draws = None) -> Measured:
    where = {"problem": problem, "sampler": sampler}
    values, errors = (rows_where(tables, name, where) for name in (RESULTS, RESULTS + ERRORS))
    if training_draws is not None and values["training_draws"].iloc[0] != training_draws:
        raise NotRunError(RESULTS)
    chains = int(values["chains"].iloc[0])
    estimate = Estimate(float(values[column].iloc[0]), float(errors[column].iloc[0]))
    return Measured(estimate, chains, "chain", rests_on_other_data(values))


def _scaled_ess(
    tables: Tables, problem: str, sampler: str, column: str, draws: float, training_draws: Draws = None
) -> Measured:
    size = _cell(tables, problem, sampler, column, training_draws)
    kept = _cell(tables, problem, sampler, "draws")
    return replace(_scaled(size, draws / kept.estimate.value), effective=size.estimate.value)


def _comparable_ess(
    tables: Tables, problem: str, sampler: str, column: str, draws: float, training_draws: Draws = None
) -> Measured:
    """An effective sample size to divide by another, NaN where chains did not mix.

    The error of a single chain's is that of `rnshmc.scorecard.noise`.
    """
    size = _scaled_ess(tables, problem, sampler, column, draws, training_draws)
    if not mixed(tables, problem, sampler):
        return replace(size, estimate=UNDEFINED)
    return replace(size, estimate=size_with_error(size)) if math.isnan(size.estimate.error) else size


def mixed(tables: Tables, problem: str, sampler: str) -> bool:
    """Whether the chains of a sampler mixed (`rnshmc.results.mixing`)."""
    return bool(rows_where(tables, RESULTS, {"problem": problem, "sampler": sampler})["mixed"].iloc[0])


def _scaled(measured: Measured, factor: float) -> Measured:
    value, error = measured.estimate
    return replace(measured, estimate=Estimate(factor * value, factor * error))


def _efficiency(
    tables: Tables, problem: str, sampler: str, columns: tuple[str, str], training_draws: Draws, draws: float = 1.0
) -> Measured:
    ess_column, seconds_column = columns
    size = _comparable_ess(tables, problem, sampler, ess_column, draws, training_draws)
    seconds = _cell(tables, problem, sampler, seconds_column, training_draws)
    value, error = seconds.estimate
    # A single chain's total has no spread: what is known of the ratio's error is that of its effective sample size.
    return size.per(replace(seconds, estimate=Estimate(value, 0.0 if math.isnan(error) else error)))
