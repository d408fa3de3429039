"""The suite of PEtab problems: both names of a YAML file, references, correctness, and the page."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from petab_suite.moments import Reference, read
from petab_suite.problems import names, root, yaml_of
from petab_suite.results import OTHERS, WRONG, problem, problems
from petab_suite.table import LeftOut, left_out, page
from suites import figure
from suites.figure import Style, draw
from suites.rows import OURS, units_of

from rnshmc.errors import DataError

FLAT = "The density hardly depends on +1.00 k: only the prior bounds it, if there is one."


def own_folder(root: Path) -> Path:
    """A folder for each problem, as it is handed around."""
    for name, file in (("Small_2020", "problem.yaml"), ("Large_2010", "Large_2010.yaml")):
        (root / name).mkdir(parents=True)
        (root / name / file).write_text("format_version: 1\n")
    # Settings of a test, which are no problem; and a folder without any.
    (root / "Large_2010/test_data").mkdir()
    (root / "Large_2010/test_data/input.yaml").write_text("")
    (root / "docs").mkdir()
    (root / "docs/other.yaml").write_text("")
    return root


def clone(root: Path) -> Path:
    """As git leaves the collection."""
    own_folder(root / "Benchmark-Models")
    return root


@pytest.mark.parametrize("layout", [own_folder, clone])
def test_a_problem_is_found_by_either_name_of_its_yaml(layout: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = layout(tmp_path)
    assert names(root(folder)) == ["Large_2010", "Small_2020"]
    assert yaml_of(root(folder) / "Small_2020").name == "problem.yaml"
    assert yaml_of(root(folder) / "Large_2010").name == "Large_2010.yaml"


def test_a_folder_without_problems_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"{tmp_path}: no folder in it has a problem.yaml or <its name>.yaml"):
        names(tmp_path)
    with pytest.raises(DataError, match=f"neither problem.yaml nor {tmp_path.name}.yaml"):
        yaml_of(tmp_path)


NOTHING_LEFT_OUT = LeftOut({}, ())
REFERENCE = Reference(
    names=["a", "b"],
    mean=[1.0, -2.0],
    variance=[4.0, 0.25],
    kurtosis=[3.0, 3.0],
    mean_error=[0.03, 0.004],
    variance_error=[0.08, 0.004],
    quantiles=[[-2.3, -2.8], [1.0, -2.0], [4.3, -1.2]],
    draws=[4000.0, 5000.0],
    rhat=1.003,
    simulations=300000,
    converged=True,
)


def run(peer: str, units: int, *, off: float = 0.0, name: str = "Small_2020") -> dict[str, object]:
    """What a run leaves; ``off`` is how far the first mean is off, in standard errors of it and the reference."""
    outcome = {
        "mean": [1.0 + 0.05 * off, -2.0],
        "variance": [4.1, 0.25],
        "says": "good, surrogate, sd(U - V) 0.03",
        "says_good": True,
        "own_draws": [2500.0, 2500.0],
        "warmup_units": np.nan,
        "standard_error": [[0.04, 0.01], [0.1, 0.01]],
        "findings": [FLAT],
    }
    return {
        **{"peer": peer, "problem": name, "dim": 2, "seed": 1, "version": "1", "outcome": outcome},
        **{"units": units, "failed": 0, "overhead_s": 1.0, "target_s": 0.01 * units, "ended": "finished"},
    }


def runs(*, off: float = 0.0, name: str = "Small_2020") -> list[dict[str, object]]:
    """One run of each sampler: tempering takes forty times our units, Metropolis thirty."""
    return [
        run(OURS, 100, off=off, name=name),
        *(run(OTHERS[k], units, off=1.0, name=name) for k, units in enumerate((4000, 3000))),
    ]


@pytest.mark.parametrize(("off", "right"), [(WRONG - 0.1, True), (WRONG + 0.1, False), (-WRONG - 0.1, False)])
def test_a_result_is_right_within_five_standard_errors_of_both(off: float, right: bool) -> None:
    (said,) = problem(runs(off=off), REFERENCE).said
    assert said.worst == pytest.approx(abs(off))
    assert said.right == right


@pytest.fixture
def suite(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder of problems, results and references: one problem is run, one is not built, and one not run."""
    folder, results, references = own_folder(tmp_path / "folder"), tmp_path / "results", tmp_path / "reference"
    (folder / "Other_2000").mkdir()
    (folder / "Other_2000/problem.yaml").write_text("")
    references.mkdir()
    (references / "Small_2020.json").write_text(json.dumps(asdict(REFERENCE)))
    for one in runs():
        path = results / "Small_2020" / str(one["peer"]) / "1.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(one))
    for name, dim, reason in (
        ("Large_2010", 0, "61 estimated parameters"),
        ("Small_2020", 2, ""),
        ("Other_2000", 3, ""),
    ):
        (results / name).mkdir(exist_ok=True)
        (results / name / "built.json").write_text(json.dumps({"dim": dim, "reason": reason}))
    return folder, results, references


def test_the_page_tells_ratios_verdicts_and_what_was_not_run(suite: tuple[Path, Path, Path]) -> None:
    folder, results, references = suite
    made = problems(results, references)
    text = page(made, left_out(folder, results, made), ("amici 1",))
    # Extrapolated from 2500 draws to 1000 where they cost units in proportion; without a warm-up, at the units spent.
    assert "| Small_2020 | 2 | 100 | 4000 | 3000 | 30 | 1 s | 30 s |" in text
    assert "the better of the two other samplers takes **30 times the simulations** of `rnshmc.sample`." in text
    assert (
        "On 1 (our aim was 15 problems), it takes at least 20 times as many simulations, or misses a goal that" in text
    )
    assert "On none does `rnshmc.sample` take more than 1.2 times" in text
    assert "marked good: 1, of which 1 accurate; marked doubtful: 0" in text
    assert "| Small_2020 | adaptive Metropolis | 3000 | 3200 / 6400 | good, surrogate" in text
    assert "| Small_2020 | 1 | 100 | good, surrogate, sd(U - V) 0.03 | 0.781 | yes |" in text
    assert f"- Small_2020: {FLAT}" in text
    assert "| Small_2020 | 1.003 | 4000 | 5000 | 3e+05 |  |" in text
    assert "- Large_2010: not built, 61 estimated parameters" in text
    assert "- Other_2000: not run here" in text
    assert "- Small_2020: not" not in text


def test_a_sampler_that_was_not_run_is_named() -> None:
    text = page([problem(runs()[:2], REFERENCE)], NOTHING_LEFT_OUT, ())
    assert "- Small_2020: no adaptive Metropolis" in text
    assert "no adaptive parallel tempering" not in text


@pytest.mark.parametrize(("units", "lost"), [(3599, False), (3601, True)])
def test_what_is_lost_is_said(units: int, lost: bool) -> None:
    of = [run(OURS, units), *runs()[1:]]
    text = page([problem(of, REFERENCE)], NOTHING_LEFT_OUT, ())
    assert ("or misses a goal that one of them reaches: Small_2020." in text) == lost


def test_a_goal_that_only_ours_reaches_is_told() -> None:
    others = [{**run(other, 5000), "outcome": None} for other in OTHERS]
    text = page([problem([runs()[0], *others], REFERENCE)], NOTHING_LEFT_OUT, ())
    assert "the better of the two other samplers **misses the goal** that `rnshmc.sample` reaches" in text
    assert "| Small_2020 | 2 | 100 | not reached | not reached | others not reached | 1 s | - |" in text


def test_a_run_without_a_result_is_told() -> None:
    stopped = {**run(OURS, 50), "outcome": None, "ended": "stopped after 300 s"}
    one = problem([stopped, *runs()[1:]], REFERENCE)
    text = page([one], NOTHING_LEFT_OUT, ())
    assert "| Small_2020 | 1 | 50 | stopped after 300 s | - | - |" in text
    assert "without a result: 1." in text
    assert "ours not reached" in text


def test_without_a_reference_nothing_is_right_and_nothing_is_counted() -> None:
    unknown = problem(runs(), replace(REFERENCE, converged=False, rhat=1.4))
    assert unknown.row is None
    assert not unknown.said[0].right
    text = page([unknown], NOTHING_LEFT_OUT, ())
    assert "There is no reference for the other 1." in text
    assert "| Small_2020 | 1.400 | 4000 | 5000 | 3e+05 | no reference |" in text
    not_made = page([problem(runs(), None)], NOTHING_LEFT_OUT, ())
    assert "There is no reference for the other 1." in not_made
    assert "| Small_2020 | - | - | - | - | not made |" in not_made


def test_problems_with_bad_results_alone_are_in_one_paragraph() -> None:
    bad = run(OURS, 70)
    bad["outcome"] = {**bad["outcome"], "says": "bad, surrogate, sd(U - V) 9.66", "says_good": False}  # type: ignore[dict-item]
    text = page([problem([bad, *runs()[1:]], None)], NOTHING_LEFT_OUT, ())
    assert "**On 1 of 1 problems `rnshmc.sample` fails, and its verdict reports it:** Small_2020." in text
    assert "after 70 to 70 simulations sd(U - V) is 9.66 or more" in text
    assert "On 1 of the problems the density hardly depends on" in text
    assert FLAT not in text


def test_a_file_that_is_no_reference_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"mean": [1.0]}')
    with pytest.raises(DataError, match=r"broken\.json: not a file of reference moments"):
        read(path)


def test_the_figure_has_a_sampler_that_was_not_run_nowhere() -> None:
    row = problem(runs()[:2], REFERENCE).row
    assert row is not None
    styles = {
        OURS: figure.OURS,
        OTHERS[0]: Style("adaptive parallel tempering", *figure.FIRST_OTHER),
        OTHERS[1]: Style("adaptive Metropolis", *figure.SECOND_OTHER),
    }
    drawn = draw(units_of([row]), styles, "simulations")
    (axes,) = drawn.axes
    shown = {str(line.get_label()): np.asarray(line.get_xdata()).tolist() for line in axes.lines}
    assert shown["rnshmc.sample"] == [100.0]
    assert shown["adaptive parallel tempering"] == [4000.0]
    assert shown["adaptive Metropolis"] == []
    assert drawn.get_supxlabel() == "simulations until the accuracy of 1000 independent draws"
