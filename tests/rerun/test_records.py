"""Snakemake's records travel with the results, and are given back to the files that they describe only."""

import json
import os
import shutil
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from rnshmc.errors import StoreError
from rnshmc.rerun.records import METADATA, restore_records, save_records

OUTPUT = "results/a/table.csv"
LONG = f"results/a/{'x' * 200}.csv"
RECORDS = Path("results/a/records.json")


def note(project: Path, output: str, **record: Any) -> None:
    """Make a file and the record that Snakemake has of it."""
    file = project / output
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{output}, by {record}")
    path = record_path(project, output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"endtime": file.stat().st_mtime, **record}))


def record_path(project: Path, output: str) -> Path:
    name = urlsafe_b64encode(output.encode()).decode()
    return project / METADATA / (name if len(name) <= 254 else f"@{name[:254]}/{name[254:]}")


def record(project: Path, output: str) -> dict[str, Any]:
    return dict(json.loads(record_path(project, output).read_text()))


def save(project: Path) -> None:
    save_records(project / RECORDS, [Path("results/a")], project)


def restore(project: Path) -> None:
    restore_records(project / RECORDS, project)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two outputs whose records are saved."""
    note(tmp_path / "here", OUTPUT, params=["1"])
    note(tmp_path / "here", LONG, params=["1"])
    save(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def clone(project: Path) -> Path:
    """Another folder with a copy of the results, all of them with new times."""
    copy = project.with_name("clone")
    shutil.copytree(project / "results", copy / "results", copy_function=shutil.copyfile)
    return copy


def test_a_copy_gets_the_records_of_its_files(project: Path, clone: Path) -> None:
    restore(clone)
    for output in (OUTPUT, LONG):
        assert record(clone, output) == record(project, output)


def test_another_file_of_the_same_name_gets_none(clone: Path) -> None:
    (clone / OUTPUT).write_text("something else")
    restore(clone)
    assert not record_path(clone, OUTPUT).exists()
    assert record_path(clone, LONG).exists()


def test_results_that_replace_others_bring_their_records(project: Path, clone: Path) -> None:
    note(clone, OUTPUT, params=["2"])
    shutil.copyfile(project / OUTPUT, clone / OUTPUT)
    os.utime(clone / OUTPUT, (0, 0))
    restore(clone)
    assert record(clone, OUTPUT)["params"] == ["1"]


def test_what_was_made_anew_keeps_its_own_record(project: Path) -> None:
    text = (project / OUTPUT).read_text()
    note(project, OUTPUT, params=["2"])
    (project / OUTPUT).write_text(text)
    note_time = (project / OUTPUT).stat().st_mtime
    record_path(project, OUTPUT).write_text(json.dumps({"endtime": note_time, "params": ["2"]}))
    restore(project)
    assert record(project, OUTPUT)["params"] == ["2"]


def test_a_later_run_saves_what_it_made_and_forgets_what_is_gone(project: Path) -> None:
    note(project, OUTPUT, params=["2"])
    (project / LONG).unlink()
    save(project)
    saved = json.loads((project / RECORDS).read_text())
    assert saved.keys() == {OUTPUT}
    assert saved[OUTPUT]["record"]["params"] == ["2"]


def test_without_saved_records_nothing_happens(tmp_path: Path) -> None:
    restore(tmp_path)
    assert not (tmp_path / METADATA).exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"a": {"record": {}}}', '{"a": 1}'])
def test_a_damaged_file_is_an_error_that_names_it(project: Path, text: str) -> None:
    (project / RECORDS).write_text(text)
    with pytest.raises(StoreError, match=r"records\.json is damaged.*remove it"):
        restore(project)
