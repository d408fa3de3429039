"""A logistic regression of one's own touches the config and data/sources.yaml, and nothing else.

It follows the recipe of CONTRIBUTING.md: to the data, and to the page and the table of a run of that problem alone.
"""

import hashlib

import numpy as np
import pandas as pd
import pytest
import yaml

from rnshmc.random import stream
from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

ROWS, FEATURES = 60, 3
SOURCE = {
    "urls": [{"url": "http://127.0.0.1:9/fourth.csv"}],
    "licence": "CC BY 4.0",
    "citation": "Nobody (2026).",
}
# A stand-in of another size: which of the two was made shows in the shape.
STAND_IN = {"kind": "plain", "n": 40, "d": 5}
SET = {"raw": ["fourth"], "reader": "csv", "options": {"label": "ill"}, "intercept": True, "stand_in": STAND_IN}


@pytest.mark.parametrize("reached", [True, False])
def test_a_fourth_set_takes_an_entry_of_the_sources_and_one_of_the_config(
    reached: bool, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = stream(1, "fourth").standard_normal((ROWS, FEATURES)).round(3)
    lines = ["a,b,c,ill", *(f"{','.join(map(str, row))},{k % 2}" for k, row in enumerate(X))]
    content = "\n".join(lines).encode() + b"\n"
    mirror = project.folder / "mirror"
    mirror.mkdir()
    if reached:
        (mirror / "fourth.csv").write_bytes(content)
    monkeypatch.setenv("RNSHMC_DATA_MIRROR", str(mirror))

    sources = project.folder / "data/sources.yaml"
    table = yaml.safe_load(sources.read_text(encoding="utf-8"))
    table["datasets"]["fourth"] = ["fourth.csv"]
    table["files"]["fourth.csv"] = {"sha256": [hashlib.sha256(content).hexdigest()], **SOURCE}
    sources.write_text(yaml.safe_dump(table), encoding="utf-8")
    config = yaml.safe_load((project.folder / "config/test.yaml").read_text(encoding="utf-8"))
    (project.folder / "mine.yaml").write_text(yaml.safe_dump({**config, "data": {"fetched": {"mine": SET}}}))

    done = project.snakemake("--cores", "1", "--configfile", "mine.yaml", "--", "data/processed/mine.npz")
    assert done.returncode == 0, done.stdout[-5000:]
    with np.load(project.folder / "data/processed/mine.npz") as data:
        assert str(data["origin"]) == ("real" if reached else "stand-in")
        assert data["X"].shape == ((ROWS, 1 + FEATURES) if reached else (40, 6))
        assert data["columns"][0] == "intercept"
        if reached:
            np.testing.assert_allclose(data["X"][:, 1:], (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), atol=1e-12)


PROBLEM = {
    "title": "My own",
    "compared_with": "reference",
    "data": "data/processed/mine.npz",
    "target": {"kind": "logistic", "prior_sd": 10.0},
    "iterations": {"explore": 60, "discard": 10, "keep": 40},
    "surrogates": {"random_network": {"type": "random_network", "hidden_units": 40, "ridge": 1.0e-6}},
    "samplers": {
        "hmc": {"step_size": 0.1, "n_steps": [1, 4]},
        "rns_hmc": {"step_size": 0.1, "n_steps": [1, 4], "surrogate": "random_network"},
    },
}


def test_a_run_of_one_problem_ends_with_its_page_and_its_table(project: Project) -> None:
    config = yaml.safe_load((project.folder / "config/test.yaml").read_text(encoding="utf-8"))
    mine = {
        "run": "mine",
        "only": ["mine"],
        "chains": 1,
        **{key: config[key] for key in ("reference", "timing")},
        "data": {"simulated": {"mine": {"simulation": "normal_logistic", "n": 500, "d": 3}}},
        "problems": {"mine": PROBLEM},
        # What the other problems are set to does not matter.
        "iterations": {"explore": 1100},
    }
    (project.folder / "mine.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    done = project.snakemake("--cores", "2", "--configfile", "mine.yaml")
    assert done.returncode == 0, done.stdout[-5000:]
    results = project.folder / "results/mine"
    table = pd.read_csv(results / "tables/results.csv")
    assert table["problem"].tolist() == ["mine", "mine"]
    assert table["paper"].isna().all()
    assert {path.name for path in (results / "report").glob("*.html")} == {"index.html", "mine.html"}
    index = (results / "report/index.html").read_text(encoding="utf-8")
    assert "My own" in index
    assert "Scorecard" not in index
    assert not (results / "tables/scorecard.csv").exists()
