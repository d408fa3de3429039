"""Results copied with their records into a fresh clone rerun nothing until an edit."""

import shutil
from pathlib import Path

import pytest

from tests.workflow.conftest import Project, copy_project
from tests.workflow.test_changes import EDITS, TEST, edited, expected

pytestmark = pytest.mark.workflow

RESULTS = ("results", ".snakemake/metadata")


def fresh_clone(finished: Project, folder: Path, *parts: str) -> Project:
    """A fresh copy of the project into which parts of a finished one are copied; all files have new times."""
    clone = copy_project(folder)
    for part in parts:
        shutil.copytree(finished.folder / part, folder / part, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return clone


@pytest.fixture(scope="module")
def clone(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh copy of the project that got results, their records and data from the finished one."""
    return fresh_clone(finished, tmp_path_factory.mktemp("clone") / "project", *RESULTS, "data")


def test_copied_results_rerun_nothing(clone: Project) -> None:
    assert clone.jobs(*TEST) == {}


@pytest.mark.parametrize("edit", ["metrics.py", "warm_forms", "a9a.npz"])
def test_an_edit_then_reruns_what_the_table_says(clone: Project, edit: str) -> None:
    with edited(clone, EDITS[edit]):
        assert clone.jobs(*TEST) == expected(edit)


def test_results_without_data_rerun_and_download_nothing(finished: Project, tmp_path: Path) -> None:
    clone = fresh_clone(finished, tmp_path / "project", *RESULTS)
    assert clone.jobs(*TEST) == {}
    assert not (clone.folder / "data/processed").exists()


def test_data_that_are_made_again_rerun_nothing(finished: Project, tmp_path: Path) -> None:
    clone = fresh_clone(finished, tmp_path / "project", *RESULTS)
    done = clone.snakemake(*TEST, "--", "data/processed/lr_simulated_5000_rows.npz")
    assert done.returncode == 0, done.stdout[-5000:]
    assert clone.jobs(*TEST) == {}
