"""The suite of posteriordb: both layouts of a database, comparisons, and the page."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from peers.counted import Counted
from peers.judge import Verdict
from peers.our_peers import rnshmc_gradient
from peers.problems import Problem
from posteriordb.database import names, read
from posteriordb.run import NOT_COMPILED
from posteriordb.table import OTHERS, STYLES, page, rows
from suites.figure import draw
from suites.rows import OURS, Row

from rnshmc.errors import DataError
from rnshmc.targets.gaussian import Gaussian

CODE = "parameters { real a; vector[2] b; } model { a ~ normal(0, 1); b ~ normal(0, 1); }"
DRAWS = {"a": [1.0, 1.5, 1.5, 2.0], "b[1]": [3.0, 3.5, 3.5, 4.0], "b[2]": [5.0, 5.5, 5.5, 6.0]}


def zipped(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(path.stem, json.dumps(content))


def clone(root: Path) -> Path:
    """As git leaves posteriordb: two posteriors, one of them with reference draws of two chains."""
    database = root / "posterior_database"
    about = {"model_name": "normal", "data_name": "none", "reference_posterior_name": "none-normal"}
    for name, known in (("none-normal", about), ("none-unknown", {**about, "reference_posterior_name": None})):
        (database / "posteriors").mkdir(parents=True, exist_ok=True)
        (database / f"posteriors/{name}.json").write_text(json.dumps(known))
    (database / "models/stan").mkdir(parents=True)
    (database / "models/stan/normal.stan").write_text(CODE)
    zipped(database / "data/data/none.json.zip", {"N": 3})
    zipped(database / "reference_posteriors/draws/draws/none-normal.json.zip", [DRAWS, DRAWS])
    return root


def folder(root: Path) -> Path:
    """A folder for each posterior."""
    own = root / "none-normal"
    own.mkdir()
    (own / "model.stan").write_text(CODE)
    (own / "data.json").write_text('{"N": 3}')
    draws = np.array(list(DRAWS.values()), dtype=np.float32).T
    np.savez(own / "reference.npz", names=list(DRAWS), draws=np.stack([draws, draws]))
    return root


@pytest.mark.parametrize("layout", [clone, folder])
def test_both_layouts_of_a_database_are_read_alike(layout: Callable[[Path], Path], tmp_path: Path) -> None:
    database = layout(tmp_path)
    assert names(database) == ["none-normal"]
    posterior = read(database, "none-normal")
    assert (posterior.code, posterior.data, posterior.names) == (CODE, {"N": 3}, ("a", "b[1]", "b[2]"))
    assert np.array_equal(posterior.draws, np.tile(np.column_stack(list(DRAWS.values())), (2, 1)))


def test_a_folder_without_posteriors_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"{tmp_path}: neither <posterior>/model.stan nor posterior_database"):
        names(tmp_path)


def test_a_posterior_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (folder(tmp_path) / "none-normal/data.json").write_text("{")
    with pytest.raises(DataError, match="posterior none-normal cannot be read: "):
        read(tmp_path, "none-normal")


def test_what_is_compared_are_the_constrained_parameters() -> None:
    """exp(q_1 / 2) of a normal q_1 has mean exp(1/8) and variance exp(1/2) - exp(1/4)."""
    standard, wide = Gaussian(np.zeros(2), np.eye(2)), np.full(2, 10.0)
    problem = Problem(standard, np.zeros(2), 0.1, -wide, wide, np.ones(2), variables=lambda q: np.exp(0.5 * q[..., :1]))
    outcome = rnshmc_gradient(Counted(problem.potential, 1000), problem, 1)
    variance = np.exp(0.5) - np.exp(0.25)
    of_mean, of_variance = outcome.own_draws
    assert outcome.mean.shape == outcome.variance.shape == (1,)
    assert abs(outcome.mean[0] - np.exp(0.125)) < 4.0 * np.sqrt(variance / of_mean)
    kurtosis = np.exp(1.0) + 2.0 * np.exp(0.75) + 3.0 * np.exp(0.5) - 3.0
    assert abs(outcome.variance[0] / variance - 1.0) < 4.0 * np.sqrt((kurtosis - 1.0) / of_variance)


def run(peer: str, units: int, mean: float, *, good: bool = True) -> dict[str, object]:
    """What a run on the posterior of `folder` leaves, whose reference is a 1.5 and b 3.5 and 5.5 with variances 1/8."""
    outcome = {
        "mean": [mean, 3.5, 5.5],
        "variance": [0.125, 0.125, 0.125],
        "says": "good",
        "says_good": good,
        "own_draws": [1000.0, 1000.0],
        "warmup_units": np.nan,
    }
    return {
        **{"peer": peer, "problem": "none-normal", "dim": 3, "seed": 1, "version": "1", "outcome": outcome},
        **{"units": units, "failed": 0, "overhead_s": 1.0, "target_s": 1.0, "ended": "finished"},
    }


@pytest.fixture
def results(tmp_path: Path) -> tuple[Path, Path]:
    """A database and the results of one seed: ours is right but not marked good, and ten times cheaper than
    nutpie's."""
    database, results = folder(tmp_path), tmp_path / "results"
    for peer, units, good in ((OURS, 100, False), (OTHERS[0], 1000, True), (OTHERS[1], 3000, True)):
        path = results / "none-normal" / peer / "1.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(run(peer, units, 1.5, good=good)))
    for peer in (OURS, *OTHERS):
        path = results / "hard" / peer / "1.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**run(peer, 0, 0.0), "problem": "hard", "outcome": None, "ended": NOT_COMPILED}))
    return database, results


def test_the_page_tells_ratios_and_verdicts_and_what_does_not_compile(results: tuple[Path, Path]) -> None:
    made, not_compiled = rows(*results)
    text = page(made, not_compiled, "figure.png")
    assert "nutpie takes **10 times the units**" in text
    assert "Of 1 results of `rnshmc.sample`, 0 were marked good, and 0 of these are accurate. Of all results 1" in text
    assert "On none does `rnshmc.sample` take more than 1.2 times" in text
    assert "| none-normal | 3 | 100 | 1000 | 3000 | 10 | 1 s | good | 0 of 1 | - |" in text
    assert "Not compiled here: hard." in text


def test_what_is_lost_is_said(results: tuple[Path, Path]) -> None:
    (row,), _ = rows(*results)

    def costing(units: float) -> Row:
        ours: list[Verdict] = [replace(run, units_mean=units, units_variance=units) for run in row.runs[OURS]]
        return replace(row, runs={**row.runs, OURS: ours})

    lost = "takes more than 1.2 times the units of nutpie, or does not reach this accuracy: none-normal."
    assert lost not in page([costing(1199.0)], [], "figure.png")
    assert lost in page([costing(1201.0)], [], "figure.png")
    assert lost in page([costing(np.inf)], [], "figure.png")


def test_the_figure_shows_what_was_not_reached_apart() -> None:
    units = {"a": {OURS: [100.0, np.inf], OTHERS[0]: [1000.0], OTHERS[1]: [2000.0]}}
    (axes,) = draw(units, STYLES, "units").axes
    ours, not_ours = (line for line in axes.lines[:2])
    assert np.array_equal(ours.get_xdata(), [100.0])
    (x,) = np.asarray(not_ours.get_xdata(), dtype=float)
    assert not_ours.get_fillstyle() == "none"
    assert x > 2000.0


def test_many_posteriors_share_two_panels() -> None:
    units = {f"p{k}": {name: [100.0 + k] for name in STYLES} for k in range(7)}
    figure = draw(units, STYLES, "units")
    shown = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert shown == [["p0", "p1", "p2", "p3"], ["p4", "p5", "p6"]]
