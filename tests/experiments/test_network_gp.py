"""Acceptance on standard Gaussians, driven by a Gaussian process and by a gradient network."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rnshmc.experiments.network_gp import NetworkComparison, comparison_rows, training_states

COMPARISON = NetworkComparison(seed=6, step_size=0.1, n_steps=(1, 19), iterations=400, repeats=2)
SETTINGS: dict[str, dict[str, Any]] = {
    "gp_hmc": {"max_evaluations": 10},
    "nng_hmc": {"hidden_units": 50, "epochs": 10},
}


def test_training_states_are_nested() -> None:
    states = training_states(COMPARISON, 3, 50, 1)
    assert states.shape == (50, 3)
    assert_array_equal(training_states(COMPARISON, 3, 20, 1), states[:20])
    assert not np.array_equal(training_states(COMPARISON, 3, 50, 2), states)


def test_exact_hmc_accepts_nearly_all_and_trains_on_nothing() -> None:
    rows = comparison_rows(COMPARISON, method="hmc", d=10, sizes=[0], settings=None)
    assert rows[["method", "d", "size", "repeat"]].to_numpy().tolist() == [["hmc", 10, 0, 1], ["hmc", 10, 0, 2]]
    assert (rows["train_s"] == 0).all()
    # Over 12 seeds at most 5 of 400 are rejected, 2 on average; more than 16 with probability 1e-10.
    assert (rows["acceptance"] > 0.96).all()


@pytest.mark.parametrize("method", SETTINGS)
def test_more_training_states_make_better_proposals(method: str) -> None:
    rows = comparison_rows(COMPARISON, method=method, d=5, sizes=[15, 300], settings=SETTINGS[method])
    assert rows["size"].tolist() == [15, 15, 300, 300]
    assert (rows["train_s"] > 0).all()
    rates = rows.groupby("size")["acceptance"].mean()
    # Over 12 seeds the difference is 0.55 and 0.31, with spreads of 0.034 and 0.052: six of these and more.
    assert rates[300] > rates[15]


def test_chains_do_not_depend_on_how_many_there_are() -> None:
    one, two = (
        comparison_rows(
            replace(COMPARISON, repeats=repeats, iterations=50),
            method="nng_hmc",
            d=2,
            sizes=sizes,
            settings=SETTINGS["nng_hmc"],
        )
        for repeats, sizes in ((1, [40]), (2, [20, 40]))
    )
    same = two[(two["size"] == 40) & (two["repeat"] == 1)]
    assert one["acceptance"].tolist() == same["acceptance"].tolist()
