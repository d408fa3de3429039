"""Acceptance by dimension on small made-up data."""

import numpy as np
import pandas as pd
import pytest

from rnshmc.datasets.matrix import LogisticData
from rnshmc.errors import ParameterError
from rnshmc.experiments.projection import COLUMNS, acceptance_by_dimension
from rnshmc.random import stream


def acceptance(*, dimensions: tuple[int, ...], repeats: int, step_size: float, rows: int | None = None) -> pd.DataFrame:
    rng = stream(1, "projection")
    X, y = rng.standard_normal((200, 20)), (rng.random(200) < 0.5).astype(np.uint8)
    data = LogisticData(X, y, "simulated", tuple(f"x{k}" for k in range(20)))
    return acceptance_by_dimension(
        data,
        dimensions=dimensions,
        repeats=repeats,
        rows=rows,
        prior_sd=10.0,
        discard=100,
        seed=1,
        settings={
            "step_size": step_size,
            "n_steps": (1, 5),
            "explore_iterations": 400,
            "iterations": 300,
            "surrogate": {"hidden_units": 100, "ridge": 1e-8},
        },
    )


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return acceptance(dimensions=(3, 20), repeats=2, step_size=0.1)


def test_each_dimension_and_repeat_has_both_samplers(table: pd.DataFrame) -> None:
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 2 * 2 * 2
    assert not table.duplicated(["d", "repeat", "sampler"]).any()
    assert set(table["data"]) == {"simulated"}


def test_a_surrogate_trained_on_as_much_is_worse_in_more_dimensions(table: pd.DataFrame) -> None:
    means = table.pivot_table(index="d", columns="sampler", values="ap")
    share = means["rns_hmc"] / means["hmc"]
    # In 3 dimensions 300 states tell the whole posterior; in 20 a quadratic has as many coefficients. Over 10 seeds the
    # shares are 1.00 and 0.10, with spreads of 0.019 and 0.014.
    assert share[3] > 0.85
    assert share[20] < share[3] - 0.5


def test_repeats_are_other_projections_and_equal_seeds_give_equal_tables(table: pd.DataFrame) -> None:
    again = acceptance(dimensions=(3, 20), repeats=2, step_size=0.1)
    pd.testing.assert_frame_equal(table, again)
    assert table.groupby(["d", "sampler"])["ap"].nunique().max() == 2


def test_some_of_the_rows_are_marked_and_no_more_than_there_are() -> None:
    assert set(acceptance(dimensions=(3,), repeats=1, step_size=0.1, rows=120)["data"]) == {"subset"}
    with pytest.raises(ParameterError, match="rows: 201 requested, but the data have only 200"):
        acceptance(dimensions=(3,), repeats=1, step_size=0.1, rows=201)
