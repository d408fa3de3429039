"""Failures are reported in the user's terms: the job, its log, the remedy."""

import errno
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnshmc.errors import DataError, StoreError
from rnshmc.run.failures import check_writable, explain
from rnshmc.run.job import job


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """`job` sets up the logging of its process."""
    root = logging.getLogger()
    handlers, level, ours = root.handlers[:], root.level, logging.getLogger("rnshmc").level
    yield
    root.handlers[:], root.level = handlers, level
    logging.getLogger("rnshmc").setLevel(ours)
    logging.captureWarnings(False)


def fail(log: Path, error: BaseException) -> None:
    with job(str(log)):
        raise error


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (DataError("table.csv: row 3"), 1, "DataError: table.csv: row 3"),
        (
            MemoryError("Unable to allocate 2 PiB"),
            1,
            "memory ran out: Unable to allocate 2 PiB; run fewer jobs at once",
        ),
        (OSError(errno.ENOSPC, "No space left", "table.csv"), 1, "table.csv: the disk is full; make room"),
        (OSError(errno.EROFS, "Read-only file system"), 1, "an output: the file system is read-only"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to continue"),
    ],
)
def test_what_the_user_can_mend_is_a_message_and_a_status(
    error: BaseException, status: int, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ended:
        fail(tmp_path / "job.log", error)
    assert ended.value.code == status
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert words in log
    assert "Traceback" not in log


@pytest.mark.parametrize("error", [RuntimeError("odd"), OSError(errno.EIO, "Input/output error")])
def test_a_defect_keeps_its_traceback(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        fail(tmp_path / "job.log", error)
    assert "Traceback" in (tmp_path / "job.log").read_text(encoding="utf-8")


def test_the_log_holds_our_progress_and_others_warnings(tmp_path: Path) -> None:
    with job(str(tmp_path / "job.log")):
        logging.getLogger().setLevel(logging.INFO)
        logging.getLogger("compiler").info("gcc -c")
        logging.getLogger("compiler").warning("unused variable")
        logging.getLogger("rnshmc.run").info("5 of 10 iterations")
    lines = (tmp_path / "job.log").read_text(encoding="utf-8").splitlines()
    assert [line.split(maxsplit=3)[3] for line in lines] == ["unused variable", "5 of 10 iterations"]


def test_a_failed_job_is_named_with_its_log(tmp_path: Path) -> None:
    said = explain("sample", ["results/chain1.nc"], ["logs/chain1.log"], "exit status 1", quiet_log=False, kept=True)
    assert said.splitlines() == [
        "Rule sample failed to make results/chain1.nc; log: logs/chain1.log",
        "Finished results are kept; run the same command again to continue.",
    ]


@pytest.mark.parametrize("error", ["died with <Signals.SIGKILL: 9>", "returned non-zero exit status 137."])
def test_a_killed_job_needs_memory(error: str) -> None:
    assert "mem_mb of fit under set-resources in the profile" in explain(
        "fit", ["a.npz"], [], error, quiet_log=False, kept=True
    )


def test_the_end_of_a_log_that_nobody_saw_is_shown_and_a_missing_launcher_explained(tmp_path: Path) -> None:
    log = tmp_path / "pde.log"
    log.write_text("".join(f"line {k}\n" for k in range(30)) + "bash: line 1: mpiexec: command not found\n")
    said = explain("forward_model", ["pde.npz"], [str(log)], "exit status 127", quiet_log=True, kept=True)
    assert "line 29" in said
    assert "line 3\n" not in said
    assert "mpiexec is not on PATH" in said
    assert "openmpi-bin" in said


def test_a_folder_that_is_there_or_can_be_made_is_writable(tmp_path: Path) -> None:
    check_writable(tmp_path)
    check_writable(tmp_path / "new/folder")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(StoreError, match="results cannot be written"):
        check_writable(tmp_path / "results")
