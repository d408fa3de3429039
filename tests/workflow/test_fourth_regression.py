"""A user's logistic regression needs changes only in the config and data/sources.yaml.

It follows the recipe of CONTRIBUTING.md: to the data, and to the page and the table of a run of that problem alone.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from rnshmc.random import stream
from rnshmc.store.chains import read_chain
from rnshmc.types import Array
from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

ROWS, FEATURES = 60, 3
SOURCE = {
    "urls": [{"url": "http://127.0.0.1:9/fourth.csv"}],
    "licence": "CC BY 4.0",
}
# A stand-in of another size: which of the two was made shows in the shape.
STAND_IN = {"kind": "plain", "n": 40, "d": 5}
SET = {"raw": ["fourth"], "reader": "csv", "options": {"label": "ill"}, "intercept": True, "stand_in": STAND_IN}
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


def covariates() -> Array:
    return stream(1, "fourth").standard_normal((ROWS, FEATURES)).round(3)


@pytest.fixture
def mirror(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror without the raw file of the set."""
    folder = project.folder / "mirror"
    folder.mkdir()
    monkeypatch.setenv("RNSHMC_DATA_MIRROR", str(folder))
    return folder


@pytest.fixture
def raw(project: Project) -> bytes:
    """The set's raw file, which is entered in the table of sources."""
    lines = ["a,b,c,ill", *(f"{','.join(map(str, row))},{k % 2}" for k, row in enumerate(covariates()))]
    content = "\n".join(lines).encode() + b"\n"
    sources = project.folder / "data/sources.yaml"
    table = yaml.safe_load(sources.read_text(encoding="utf-8"))
    table["datasets"]["fourth"] = ["fourth.csv"]
    table["files"]["fourth.csv"] = {"sha256": [hashlib.sha256(content).hexdigest()], **SOURCE}
    sources.write_text(yaml.safe_dump(table), encoding="utf-8")
    return content


def configure(project: Project, **data: str) -> None:
    """Write mine.yaml: the set, and a run of its problem alone; how it gets its data."""
    test = yaml.safe_load((project.folder / "config/test.yaml").read_text(encoding="utf-8"))
    config: dict[str, Any] = {
        "run": "mine",
        "only": ["mine"],
        "chains": 1,
        **{key: test[key] for key in ("reference", "timing")},
        "data": {"fetched": {"mine": SET}, **data},
        "problems": {"mine": PROBLEM},
        # What the other problems are set to does not matter.
        "iterations": {"explore": 1100},
    }
    (project.folder / "mine.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def test_a_fourth_set_takes_an_entry_of_the_sources_and_a_run_of_it_ends_with_its_page_and_its_table(
    project: Project, mirror: Path, raw: bytes
) -> None:
    (mirror / "fourth.csv").write_bytes(raw)
    configure(project)
    done = project.snakemake("--cores", "2", "--configfile", "mine.yaml")
    assert done.returncode == 0, done.stdout[-5000:]
    X = covariates()
    with np.load(project.folder / "data/processed/mine.npz") as data:
        assert str(data["origin"]) == "real"
        assert data["X"].shape == (ROWS, 1 + FEATURES)
        assert data["columns"][0] == "intercept"
        np.testing.assert_allclose(data["X"][:, 1:], (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), atol=1e-12)
    results = project.folder / "results/mine"
    table = pd.read_csv(results / "tables/results.csv")
    assert table["problem"].tolist() == ["mine", "mine"]
    assert table["data"].tolist() == ["real", "real"]
    assert table["paper"].isna().all()
    assert {path.name for path in (results / "report").glob("*.html")} == {"index.html", "mine.html"}
    index = (results / "report/index.html").read_text(encoding="utf-8")
    assert "My own" in index
    assert "Scorecard" not in index
    assert not (results / "tables/scorecard.csv").exists()


@pytest.mark.usefixtures("mirror", "raw")
def test_a_fourth_set_that_is_not_reached_has_a_stand_in(project: Project) -> None:
    configure(project)
    done = project.snakemake("--cores", "1", "--configfile", "mine.yaml", "--", "data/processed/mine.npz")
    assert done.returncode == 0, done.stdout[-5000:]
    with np.load(project.folder / "data/processed/mine.npz") as data:
        assert str(data["origin"]) == "stand-in"
        assert data["X"].shape == (40, 6)
        assert data["columns"][0] == "intercept"


def test_a_stand_in_is_called_so_in_everything_made_from_it(project: Project, mirror: Path, raw: bytes) -> None:
    (mirror / "fourth.csv").write_bytes(raw)
    configure(project, policy="stand-in")
    chain, fit, timing = (
        f"results/mine/{path}"
        for path in (
            "chains/mine/rns_hmc/chain1.nc",
            "surrogates/mine/random_network/chain1.json",
            "timing/mine.json",
        )
    )
    done = project.snakemake("--cores", "2", "--configfile", "mine.yaml", "--", chain, fit, timing)
    assert done.returncode == 0, done.stdout[-5000:]
    assert read_chain(project.folder / chain).origin == "stand-in"
    for path in (fit, timing, "data/raw/fourth.json"):
        assert json.loads((project.folder / path).read_text(encoding="utf-8"))["origin"] == "stand-in"
