"""If a job fails, the result that it was replacing is restored with its record."""

import shutil
from pathlib import Path

import pytest

from rnshmc.rerun.aside import put_aside, put_back
from rnshmc.run.internals import incomplete_mark, record_path

OUTPUT = "results/a/table.csv"
ASIDE = Path("aside")
RECORD = record_path(OUTPUT)
MARK = incomplete_mark(OUTPUT)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one result, which a run is about to replace."""
    for name, text in ((OUTPUT, "old"), (str(RECORD), "{}")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    put_aside([OUTPUT, "results/a/not there.csv"], ASIDE, tmp_path)
    return tmp_path


def fail(project: Path) -> None:
    """What Snakemake does as a job starts and fails: its output is removed, its record is of the new parameters."""
    (project / OUTPUT).unlink()
    (project / RECORD).write_text('{"params": "new"}')


def test_a_result_that_no_job_made_again_is_put_back_with_its_record(project: Path) -> None:
    fail(project)
    put_back(ASIDE, project)
    assert (project / OUTPUT).read_text() == "old"
    assert (project / RECORD).read_text() == "{}"
    assert not (project / ASIDE).exists()


def test_a_result_that_a_job_made_again_stays(project: Path) -> None:
    fail(project)
    (project / OUTPUT).write_text("new")
    put_back(ASIDE, project)
    assert (project / OUTPUT).read_text() == "new"
    assert (project / RECORD).read_text() == '{"params": "new"}'
    assert not (project / ASIDE).exists()


def test_what_a_killed_job_left_incomplete_is_not_kept(project: Path) -> None:
    put_back(ASIDE, project)
    (project / MARK).parent.mkdir()
    (project / MARK).touch()
    put_aside([OUTPUT], ASIDE, project)
    fail(project)
    put_back(ASIDE, project)
    assert not (project / OUTPUT).exists()


def test_what_is_put_back_after_a_kill_is_whole(project: Path) -> None:
    (project / MARK).parent.mkdir()
    (project / MARK).touch()
    fail(project)
    put_back(ASIDE, project)
    assert (project / OUTPUT).exists()
    assert not (project / MARK).exists()


def test_a_file_system_without_links_keeps_a_copy(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    put_back(ASIDE, project)
    monkeypatch.setattr("os.link", refuse)
    put_aside([OUTPUT], ASIDE, project)
    fail(project)
    put_back(ASIDE, project)
    assert (project / OUTPUT).read_text() == "old"


def test_nothing_put_aside_is_nothing_to_put_back(project: Path) -> None:
    shutil.rmtree(project / ASIDE)
    put_back(ASIDE, project)
    assert (project / OUTPUT).read_text() == "old"
