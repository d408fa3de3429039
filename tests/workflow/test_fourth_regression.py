"""A logistic regression of one's own touches the config and data/sources.yaml, and nothing else."""

import hashlib

import numpy as np
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
def test_a_fourth_regression_takes_an_entry_of_the_sources_and_one_of_the_config(
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
