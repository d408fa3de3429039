"""Provenance records versions, commit, machine, settings and data."""

import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from rnshmc.store.provenance import _git, provenance


def git(folder: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | identity).stdout.strip()


@pytest.fixture
def tracked(tmp_path: Path) -> Path:
    """A file in a fresh clone with one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    file = tmp_path / "tracked.py"
    file.write_text("x = 1\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "tracked.py")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    return file


def test_settings_and_hashes_come_back_through_json() -> None:
    config = {"run": "quick", "problems": {"bank": {"step_size": 0.012, "n_steps": [1, 45]}}}
    hashes = {"bank.npz": "0" * 64}
    content = json.loads(json.dumps(provenance(config, hashes), allow_nan=False))
    assert content["config"] == config
    assert content["data"] == hashes


def test_settings_are_copied_and_left_out_when_not_given() -> None:
    config: dict[str, Any] = {"chains": [1]}
    content = provenance(config)
    config["chains"].append(2)
    assert content["config"] == {"chains": [1]}
    assert "config" not in provenance()
    assert "data" not in provenance()


def test_versions_are_the_installed_ones() -> None:
    content = provenance()
    assert content["python"] == platform.python_version()
    assert content["packages"]["numpy"] == metadata.version("numpy")
    assert content["packages"]["rnshmc"] == metadata.version("rnshmc")


def test_dolfinx_is_named_without_being_imported() -> None:
    code = "import sys, rnshmc.store.provenance as p; p.provenance(); sys.exit('dolfinx' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_only_created_depends_on_the_time() -> None:
    first, second = provenance(), provenance()
    created = datetime.fromisoformat(first.pop("created"))
    second.pop("created")
    assert created.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - created) < timedelta(minutes=1)
    assert first == second


def test_machine_and_blas_are_described() -> None:
    content = provenance()
    assert content["machine"]["cpu"]
    assert 1 <= content["machine"]["usable_cores"] <= content["machine"]["cores"]
    assert content["blas"]
    assert all(library["num_threads"] >= 1 for library in content["blas"])


def test_commit_is_that_of_the_file_and_dirty_when_edited(tracked: Path) -> None:
    commit = git(tracked.parent, "rev-parse", "HEAD")
    assert _git(tracked) == {"commit": commit, "dirty": False}
    tracked.write_text("x = 2\n")
    assert _git(tracked) == {"commit": commit, "dirty": True}


def test_a_file_that_another_clone_does_not_track_has_no_commit(tracked: Path) -> None:
    stranger = tracked.with_name("stranger.py")
    stranger.write_text("")
    assert _git(stranger) is None
