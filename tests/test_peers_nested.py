"""The comparison with nested sampling on models with several modes: densities, counts and rows."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from modes import CASES, IMAGE, LINE_SD, imaged, imaged_data
from peers import nested
from peers.nested import Found, Run, Target, merged, section, write_runs
from scipy import stats


def test_likelihood_and_prior_are_those_of_the_model() -> None:
    target, x = Target("line"), np.array([0.2, -0.7])
    expected = stats.norm(imaged_data(26), LINE_SD).logpdf(imaged(x)).sum()
    assert target.log_likelihood(x) == pytest.approx(expected, rel=1e-12)
    assert target.runs == 1
    assert list(IMAGE) == ["a", "y"]
    np.testing.assert_allclose(target.quantiles(np.array([0.5, stats.norm.cdf(1.0)])), [0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("model", CASES)
def test_starts_are_possible_and_sides_are_of_draws(model: str) -> None:
    case, target = CASES[model], Target(model)
    start = np.array(list(case.start.values()))
    assert list(case.start) == list(case.prior)
    assert target.log_likelihood(start) > -1e4
    assert target.share(start[None]) in (0.0, 1.0)


EXACT = Run("line", "reference", 1, 9, True, 0.1, -3.0, 0.001)
OURS = Run("line", "rnshmc, from no start", 1, 100, True, 0.11, -3.001, 0.001)


def cells_of(*runs: Run) -> list[str]:
    [row] = [line for line in section([EXACT, *runs], "make").splitlines() if line.startswith("| line")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_a_right_run_is_a_row() -> None:
    later = replace(OURS, seed=2, runs=120, log_evidence=-2.999)
    assert cells_of(OURS, later) == [
        *("line", "rnshmc, from no start", "120 (120)", "2 of 2", "0", "0", "0.010", "0.0", "0.7"),
    ]


@pytest.mark.parametrize(
    ("change", "missed", "wrong"),
    [
        ({"share": 0.019}, "1", "1"),
        ({"share": math.nan}, "1", "1"),
        ({"share": 1.0, "good": False}, "1", "0"),
        ({"share": 0.16}, "0", "1"),
        ({"log_evidence": -2.99}, "0", "1"),
        ({"log_evidence_se": math.nan}, "0", "1"),
        ({"log_evidence": -2.99, "good": False}, "0", "0"),
    ],
)
def test_runs_that_miss_a_mode_or_are_wrong_count(change: dict[str, float], missed: str, wrong: str) -> None:
    assert cells_of(replace(OURS, **change))[4:6] == [missed, wrong]  # type: ignore[arg-type]


def test_a_run_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(target: Target, _: int) -> Found:
        while True:
            target.log_likelihood(np.zeros(2))

    monkeypatch.setattr(nested, "SECONDS", 0.05)
    monkeypatch.setitem(nested.SAMPLERS, "dynesty", endless)
    stopped = nested.run("line", "dynesty", 3)
    assert stopped.runs > 0
    assert cells_of(replace(OURS, sampler="dynesty"), stopped)[3:] == ["1 of 2", "1", "0", "0.010", "-0.7", "0.7"]


def test_rows_of_models_that_were_not_run_again_stay(tmp_path: Path) -> None:
    table, anew = tmp_path / "table.csv", tmp_path / "line.csv"
    other = replace(OURS, model="rise", share=1.0)
    write_runs(table, [EXACT, OURS, other])
    write_runs(anew, [replace(OURS, runs=7)])
    assert merged(table, [anew]) == [replace(OURS, runs=7), other]
    assert merged(tmp_path / "none.csv", [anew]) == [replace(OURS, runs=7)]
    assert section([], "make") == ""
