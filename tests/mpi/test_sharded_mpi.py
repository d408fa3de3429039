"""A likelihood with distributed rows, and a chain on it, equal those of all rows on one rank."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnshmc.datasets.shards import BLOCK_ROWS
from rnshmc.experiments.scaling import agreement

PROGRAM = Path(__file__).with_name("sharded_program.py")
SCRIPT = Path(__file__).parents[2] / "workflow/scripts/scaling_logistic.py"
SPEC = {
    "seed": 1,
    "rows": 2 * BLOCK_ROWS,
    "dimension": 4,
    "prior_sd": 2.0,
    "evaluations": 3,
    "step_size": 0.1,
    "n_steps": [1, 4],
    "iterations": 30,
}


def test_two_ranks_evaluate_what_one_does(tmp_path: Path, on_ranks: Callable[..., str]) -> None:
    files = {ranks: tmp_path / f"ranks{ranks}.npz" for ranks in (1, 2)}
    for ranks, path in files.items():
        on_ranks(ranks, PROGRAM, "evaluate", str(path))
    compared = agreement("logistic", files, tolerance=1e-10)
    assert set(compared["quantity"]) >= {"value", "gradient", "metric", "metric_vjp"}
    # Sums over the rows are rounded in another order: they would not agree to the bit if the rows had not been shared.
    assert compared["difference"].max() > 0


@pytest.mark.parametrize(("case", "failures"), [("overflow", 3), ("bad_rows", 2)])
def test_what_fails_on_one_rank_fails_on_all(case: str, failures: int, on_ranks: Callable[..., str]) -> None:
    assert on_ranks(2, PROGRAM, case).count("failed") == 2 * failures


def test_a_chain_on_two_ranks_is_that_on_one(tmp_path: Path, on_ranks: Callable[..., str]) -> None:
    files = {ranks: tmp_path / f"ranks{ranks}.npz" for ranks in (1, 2)}
    for ranks, path in files.items():
        seconds = path.with_suffix(".csv")
        on_ranks(ranks, SCRIPT, "--spec", json.dumps(SPEC), "--output", str(path), "--seconds", str(seconds))
        measured = pd.read_csv(seconds)
        assert set(measured["ranks"]) == {ranks}
        assert list(measured["repeat"]) == [1, 2, 3, 1]
    agreement("logistic", files, tolerance=1e-10)
    with np.load(files[1]) as stored:
        assert len(np.unique(stored["draws"], axis=0)) > 10
