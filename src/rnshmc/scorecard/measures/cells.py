"""Cells of the table of results, which has a row for each problem and sampler, and combinations of cells."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured, Tables, counted, rests_on_other_data, rows_where
from rnshmc.scorecard.published import Published

RESULTS = "results"
"""The table of results; its standard errors are in the table of this name plus `ERRORS`."""
ERRORS = "_se"

Draws = int | None
"""Required training draws of the network; a run with another number of them does not measure the number."""


def cell(tables: Tables, *, number: Published, column: str, training_draws: Draws = None) -> Measured | None:
    """A cell of the number's problem and sampler."""
    return _cell(tables, number.problem, number.sampler, column, training_draws)


def ess(tables: Tables, *, number: Published, column: str, training_draws: Draws = None) -> Measured | None:
    """An effective sample size, scaled to the published number of draws."""
    return _scaled_ess(tables, number.problem, number.sampler, column, number.draws, training_draws)


def seconds(tables: Tables, *, number: Published, iterations: int) -> Measured | None:
    """Seconds of some iterations."""
    per_iteration = _cell(tables, number.problem, number.sampler, "s_per_iter", None)
    return None if per_iteration is None else _scaled(per_iteration, iterations)


def ratio(tables: Tables, *, number: Published, column: str, other: str) -> Measured | None:
    """A cell over that of another sampler on the same problem."""
    return _compared(Measured.per, *(_cell(tables, number.problem, name, column) for name in (number.sampler, other)))


def ess_ratio(tables: Tables, *, number: Published, column: str, other: str) -> Measured | None:
    """An effective sample size over that of another sampler, for equal numbers of draws."""
    sizes = (_scaled_ess(tables, number.problem, name, column, 1.0) for name in (number.sampler, other))
    return _compared(Measured.per, *sizes)


def difference(
    tables: Tables,
    *,
    number: Published,
    column: str,
    other: str,
    training_draws: tuple[Draws, Draws] = (None, None),
) -> Measured | None:
    """A cell minus that of another sampler on the same problem; `training_draws` of each."""
    pairs = zip((number.sampler, other), training_draws, strict=True)
    return _compared(Measured.minus, *(_cell(tables, number.problem, name, column, draws) for name, draws in pairs))


def efficiency(
    tables: Tables, *, number: Published, ess: str, seconds: str, training_draws: Draws = None
) -> Measured | None:
    """Effective draws per second, scaled to the published number of draws; `ess` and `seconds` are columns."""
    return _efficiency(tables, number.problem, number.sampler, (ess, seconds), training_draws, number.draws)


def relative_efficiency(
    tables: Tables, *, number: Published, ess: str, seconds: str, other: str, training_draws: Draws = None
) -> Measured | None:
    """Effective draws per second relative to those of another sampler on the same problem."""
    if number.sampler == other:
        base = _efficiency(tables, number.problem, other, (ess, seconds), None)
        return None if base is None else replace(base, estimate=Estimate(1.0, 0.0))
    return _compared(
        Measured.per,
        _efficiency(tables, number.problem, number.sampler, (ess, seconds), training_draws),
        _efficiency(tables, number.problem, other, (ess, seconds), None),
    )


def least_efficiency(
    tables: Tables,
    *,
    problems: Sequence[str],
    samplers: Sequence[str],
    ess: str,
    seconds: str,
    other: str,
    training_draws: Sequence[int],
) -> Measured | None:
    """The smallest relative efficiency of several samplers on several problems; None if one of them is missing."""
    cells = [
        _compared(
            Measured.per,
            _efficiency(tables, problem, sampler, (ess, seconds), draws),
            _efficiency(tables, problem, other, (ess, seconds), None),
        )
        for problem in problems
        for sampler, draws in zip(samplers, training_draws, strict=True)
    ]
    present = [cell for cell in cells if cell is not None]
    if len(present) < len(cells):
        return None
    least = min(present, key=lambda cell: cell.estimate.value)
    return replace(least, other_data=any(cell.other_data for cell in present))


def over_best(
    tables: Tables, *, number: Published, ess: str, seconds: str, others: Sequence[str], training_draws: Sequence[int]
) -> Measured | None:
    """Effective draws per second over the best of other samplers; `training_draws` of this one, then of the others."""
    samplers = (number.sampler, *others)
    mine, *theirs = (
        _efficiency(tables, number.problem, sampler, (ess, seconds), draws)
        for sampler, draws in zip(samplers, training_draws, strict=True)
    )
    present = [cell for cell in theirs if cell is not None]
    if mine is None or len(present) < len(theirs):
        return None
    return mine.per(max(present, key=lambda cell: cell.estimate.value))


def _cell(tables: Tables, problem: str, sampler: str, column: str, training_draws: Draws = None) -> Measured | None:
    where = {"problem": problem, "sampler": sampler}
    values, errors = (rows_where(tables, name, where) for name in (RESULTS, RESULTS + ERRORS))
    if values is None or errors is None:
        return None
    if training_draws is not None and values["training_draws"].iloc[0] != training_draws:
        return None
    chains = int(values["chains"].iloc[0])
    estimate = Estimate(float(values[column].iloc[0]), float(errors[column].iloc[0]))
    return Measured(estimate, chains, counted(chains, "chain"), rests_on_other_data(values))


def _scaled_ess(
    tables: Tables, problem: str, sampler: str, column: str, draws: float, training_draws: Draws = None
) -> Measured | None:
    size = _cell(tables, problem, sampler, column, training_draws)
    kept = _cell(tables, problem, sampler, "draws")
    if size is None or kept is None:
        return None
    return replace(_scaled(size, draws / kept.estimate.value), effective=size.estimate.value)


def _scaled(measured: Measured, factor: float) -> Measured:
    value, error = measured.estimate
    return replace(measured, estimate=Estimate(factor * value, factor * error))


def _efficiency(
    tables: Tables, problem: str, sampler: str, columns: tuple[str, str], training_draws: Draws, draws: float = 1.0
) -> Measured | None:
    ess_column, seconds_column = columns
    return _compared(
        Measured.per,
        _scaled_ess(tables, problem, sampler, ess_column, draws, training_draws),
        _cell(tables, problem, sampler, seconds_column, training_draws),
    )


def _compared(
    how: Callable[[Measured, Measured], Measured], first: Measured | None, second: Measured | None
) -> Measured | None:
    return None if first is None or second is None else how(first, second)
