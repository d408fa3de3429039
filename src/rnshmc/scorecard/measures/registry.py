"""Every measure by its name in the tables of the papers."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial

from rnshmc.errors import DataError, StoreError
from rnshmc.scorecard.measured import Measured, NotRunError, Tables
from rnshmc.scorecard.measures import adaptation, cells, posteriors, runs
from rnshmc.scorecard.published import Published

Measure = Callable[..., Measured]
"""A function of a run's tables, of the arguments that the row of a published number gives and, where it has a parameter
`number`, of that number. It raises `NotRunError` if the run lacks the data."""

MEASURES: Mapping[str, Measure] = {
    measure.__name__: measure
    for measure in (
        cells.cell,
        cells.ess,
        cells.efficiency,
        cells.relative_efficiency,
        runs.mean,
        runs.ratio_of_means,
        runs.exponent,
        adaptation.final_acceptance,
        adaptation.early_error,
        adaptation.overall_error,
        posteriors.agreement,
        posteriors.marginals,
        posteriors.variance,
    )
} | {
    "paired_ratio": partial(runs.paired, ratio=True),
    "paired_difference": partial(runs.paired, ratio=False),
}


def check(number: Published) -> None:
    """Check that the measure of a published number exists and takes its arguments.

    Raises `DataError` if there is no such measure, or it takes other arguments: the message names file, line and
    column.
    """
    if number.rule.kind == "repeat":
        return
    if number.measure not in MEASURES:
        known = ", ".join(sorted(MEASURES))
        raise DataError(f"{number.source}, column measure: there is no {number.measure!r}; there are {known}")
    try:
        inspect.signature(MEASURES[number.measure]).bind({}, **_arguments(number))
    except TypeError as error:
        raise DataError(f"{number.source}, column arguments: {number.measure} has {error}") from None


def measured(tables: Tables, number: Published) -> Measured | None:
    """Our value of a published number; None if the run lacks the data, and for a repeat, which has no measure.

    Raises `StoreError` if a table of the run lacks a column.
    """
    if number.rule.kind == "repeat":
        return None
    try:
        return MEASURES[number.measure](tables, **_arguments(number))
    except NotRunError:
        return None
    except KeyError as error:
        raise StoreError(
            f"{number.source}, {number.label}, {number.quantity}: a table of the run lacks the column {error}"
        ) from error


def _arguments(number: Published) -> dict[str, object]:
    wanted = inspect.signature(MEASURES[number.measure]).parameters
    return {**number.arguments, **({"number": number} if "number" in wanted else {})}
