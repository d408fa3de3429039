"""Published numbers and tables made up for the tests of the scorecard."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rnshmc.scorecard.measured import Measured, Tables
from rnshmc.scorecard.measures.registry import measured
from rnshmc.scorecard.published import Published, read_published
from rnshmc.scorecard.rules import Rule

PAPERS = Path(__file__).parents[2] / "papers"
NUMBER = Published(
    source="papers/made_up.csv, line 2",
    paper="made_up",
    item="table1",
    heading="Table 1",
    problem="bank",
    sampler="rns_hmc",
    quantity="ap",
    printed=0.7,
    where="Table 1",
    draws=5000,
    chains=5,
    rule=Rule("within", 0.03, 0.03),
    after_search=False,
    relative_to="",
    measure="cell",
    arguments={"column": "ap"},
    statement="",
    note="",
)
Make = Callable[..., Published]
Find = Callable[..., Measured | None]


@pytest.fixture(scope="session")
def numbers() -> tuple[Published, ...]:
    """All that the two papers print."""
    return read_published([PAPERS / "zhang2017.csv", PAPERS / "li2019.csv"])


@pytest.fixture(scope="session")
def make() -> Make:
    """A published number with some fields changed."""

    def _make(**changes: Any) -> Published:
        return replace(NUMBER, **changes)

    return _make


@pytest.fixture(scope="session")
def find(make: Make) -> Find:
    """What a measure finds in some tables, for a number of some problem and sampler."""

    def _find(
        tables: Tables, measure: str, problem: str = "", sampler: str = "", /, **arguments: Any
    ) -> Measured | None:
        return measured(tables, make(measure=measure, arguments=arguments, problem=problem, sampler=sampler))

    return _find


@pytest.fixture(scope="session")
def results() -> Callable[..., Tables]:
    """The table of results with these rows, and standard errors of a tenth of each number, or of a share of its own."""

    def _results(rows: dict[tuple[str, str], dict[str, float]], error: float = 0.1, **common: Any) -> Tables:
        fixed = {"chains": 5, "draws": 5000, "training_draws": math.nan, "mixed": True, "data": "real", **common}
        table = pd.DataFrame(
            [{"problem": problem, "sampler": sampler, **fixed, **row} for (problem, sampler), row in rows.items()]
        )
        numeric = [str(name) for name in table if name not in {"problem", "sampler", *fixed}]
        return {
            "results": table,
            "results_se": table.assign(**{name: error * table[name] for name in numeric}, draws=0),
        }

    return _results
