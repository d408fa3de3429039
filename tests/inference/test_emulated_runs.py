"""Runs of forward models whose outputs are emulated: kept, given, failed, and counted."""

import math
from pathlib import Path

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError, StoreError
from rnshmc.types import Array
from tests.inference.model_cases import DATA, Counted, decay, decaying, sampled


def test_runs_serve_other_data(tmp_path: Path) -> None:
    forward, kept = Counted(decay), tmp_path / "runs.jsonl"
    sampled(decaying(forward=forward), filepath=kept)
    before = len(forward.asked)
    later = DATA.copy()
    later[-1] = math.nan
    later[0] += 0.05
    result = sampled(decaying(later, forward), evaluations=kept)
    assert result.verdict.level == "good", str(result.verdict)
    # The checks are new runs, at draws of the new posterior; none is repeated.
    assert result.spent.units == len(forward.asked) - before < before
    assert len(forward.asked) == len(set(forward.asked))


def test_the_same_call_with_other_data_goes_on_in_the_same_file(tmp_path: Path) -> None:
    forward, kept = Counted(decay), tmp_path / "runs.jsonl"
    first = sampled(decaying(forward=forward), filepath=kept)
    repeated = sampled(decaying(forward=forward), filepath=kept)
    assert repeated.spent.units == 1  # a stored run made anew
    np.testing.assert_array_equal(repeated.mean.value, first.mean.value)
    sampled(decaying(DATA + 0.01, forward), filepath=kept)
    assert len(forward.asked) - len(set(forward.asked)) == 2


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    sampled(decaying(), filepath=kept, budget=20)
    with pytest.raises(StoreError, match=r"of another target: at a = .* output \d+ of the model is"):
        sampled(decaying(forward=lambda x: 1.001 * decay(x)), filepath=kept)
    with pytest.raises(StoreError, match="holds runs of a forward model, and this target has log densities"):
        rnshmc.sample(lambda x: -0.5 * float(x @ x), np.zeros(2), names=["a", "r"], filepath=kept, progress_bar=False)


def test_a_table_of_runs_is_a_start() -> None:
    points = np.random.default_rng(5).normal([0.6, 0.0], 0.4, size=(40, 2))
    table = {"points": points, "outputs": np.array([decay(x) for x in points])}
    fewer, cold = sampled(decaying(), evaluations=table), sampled(decaying())
    assert fewer.verdict.level == "good", str(fewer.verdict)
    assert fewer.spent.units < cold.spent.units - 15
    with pytest.raises(ParameterError, match="evaluations: 'outputs' is missing; expected points, outputs"):
        sampled(decaying(), evaluations={"points": points})


def test_failed_runs_are_avoided_and_told() -> None:
    def fragile(x: Array) -> Array:
        if x[1] > 0.15:
            raise RuntimeError("no convergence")
        return decay(x)

    result = sampled(decaying(forward=fragile))
    assert any("evaluations failed" in f.text and "no convergence" in f.text for f in result.verdict.findings)


def test_the_same_seed_gives_the_same_result_with_processes() -> None:
    alone, two = sampled(decaying(), seed=5), sampled(decaying(), seed=5, pool=2)
    np.testing.assert_array_equal(alone.draws, two.draws)


def test_a_budget_is_kept_to_the_run() -> None:
    forward = Counted(decay)
    result = sampled(decaying(forward=forward), budget=10, draws=100)
    assert result.spent.units == len(forward.asked) == 10
    assert len(result.draws) == 100
    assert "budget: 10 of 10 units are spent" in str(result.verdict)
    with pytest.raises(ParameterError, match="budget: expected a whole number of at least 1"):
        sampled(decaying(), budget=0)
