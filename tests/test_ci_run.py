"""`.ci/run` makes its targets, and one of four longer tests in turn, so that each runs within four commits."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGER = {"test-slurm.sh ", "test-dolfinx.sh trixie", "test-dolfinx.sh sid", "test-adapters.sh "}
NOT_HERE = 77


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with `.ci/run`, in which `make` and the scripts only note that they were called."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    note = '#!/bin/sh\necho "$(basename "$0") $*" >>calls\n'
    for program in ("make", *{words.split()[0] for words in LONGER}):
        path = tmp_path / "scripts" / program
        path.write_text(note if program == "make" else f"{note}exit ${{STATUS:-0}}\n")
        path.chmod(0o755)
    git(tmp_path, "init", "--quiet")
    return tmp_path


def git(project: Path, *arguments: str) -> None:
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    subprocess.run(["git", *author, *arguments], cwd=project, check=True)


def commit(project: Path) -> None:
    git(project, "commit", "--quiet", "--allow-empty", "--message", "a change")


def run(project: Path, status: int = 0) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """How `.ci/run` ended when the longer test ends with a status, and the calls that it made."""
    (project / "calls").unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PATH": f"{project / 'scripts'}{os.pathsep}{os.environ['PATH']}",
        "STATUS": str(status),
    }
    done = subprocess.run([".ci/run"], cwd=project, env=environment, text=True, capture_output=True, check=False)
    return done, (project / "calls").read_text().splitlines()


def test_four_commits_see_all_longer_tests(project: Path) -> None:
    seen = []
    for _ in range(4):
        commit(project)
        done, calls = run(project)
        assert done.returncode == 0
        assert {"make test", "make test-workflow", "make run"} <= set(calls)
        seen.append(calls[-1])
    assert set(seen) == LONGER


@pytest.mark.parametrize(("status", "ends"), [(0, 0), (1, 1), (NOT_HERE, 0)])
def test_only_a_longer_test_that_fails_makes_it_red(project: Path, status: int, ends: int) -> None:
    commit(project)
    done, _ = run(project, status)
    assert done.returncode == ends
    assert ("NOT RUN on this machine" in done.stdout) == (status == NOT_HERE)


def test_a_tree_without_commits_sees_one(project: Path) -> None:
    shutil.rmtree(project / ".git")
    done, calls = run(project)
    assert done.returncode == 0
    assert calls[-1] in LONGER
