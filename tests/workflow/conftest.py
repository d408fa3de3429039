"""A copy of the project in a temporary folder, and the run "test" made there."""

import fcntl
import importlib
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = (
    "Snakefile",
    "config",
    "data",
    "environment.yml",
    "papers",
    "profiles",
    "pyproject.toml",
    "requirements.lock",
    "src",
    "workflow",
)
LEFT_OUT = shutil.ignore_patterns("raw", "processed", "__pycache__", "*.egg-info")


MEASURED = ("timing", "mesh_study_point", "scaling_ensemble", "scaling_logistic")
SHARED_MACHINE = ("--set-threads", *(f"{rule}=1" for rule in MEASURED))
"""Seconds that are measured are nothing to the tests: the rules need not have all cores to themselves."""
FORKS = multiprocessing.get_context("forkserver")
# The last three it imports as it plans a run.
FORKS.set_forkserver_preload(["snakemake.cli", "snakemake.report.html_reporter", "jsonschema", "yte"])

COLLECTED = threading.Lock()
"""Held while ended processes are collected: to start one collects those of other threads, too, and a status that two
threads read at once is 255 for one of them."""


@dataclass(frozen=True)
class Project:
    """A folder with the project's workflow in it."""

    folder: Path

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run snakemake there and return its standard output and error together.

        Its process is forked from one that has imported snakemake, which takes as long as planning a run.
        """
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as said:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            environment = {**os.environ, "PATH": path}
            process = FORKS.Process(target=_run, args=(self.folder, arguments, environment, said.name))
            with COLLECTED:
                process.start()
            wait([process.sentinel])
            with COLLECTED:
                process.join()
            assert process.exitcode is not None
            return subprocess.CompletedProcess(["snakemake", *arguments], process.exitcode, said.read())

    def jobs(self, *arguments: str) -> dict[str, int]:
        """How many jobs of each rule a dry run would run; nothing if there is nothing to do. It prints no warning."""
        done = self.snakemake("--dry-run", *arguments)
        assert done.returncode == 0, done.stdout
        assert re.findall(r"^.*(?:warning|discouraged).*$", done.stdout, re.MULTILINE | re.IGNORECASE) == []
        stats = re.search(r"^Job stats:\n.*\n-.*\n((?:.+\n)+)", done.stdout, re.MULTILINE)
        lines = stats.group(1).splitlines() if stats else []
        counts = {rule: int(count) for rule, count in (line.split() for line in lines)}
        counts.pop("total", None)
        return counts


def _run(folder: Path, arguments: Sequence[str], environment: Mapping[str, str], said: str) -> None:
    """Run snakemake in a separate process for `Project.snakemake`, which ends with snakemake's status."""
    os.environ.clear()
    os.environ.update(environment)
    output = os.open(said, os.O_WRONLY)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    os.chdir(folder)
    importlib.import_module("snakemake.cli").main(list(arguments))


def copy_project(folder: Path) -> Project:
    """Copy the project without data and results, as in a fresh clone."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / part)
    return Project(folder)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy of the project."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the run "test" is finished, on two cores. Tests do not change it. Parallel test processes share
    it: one makes it, the others wait.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, stamp = shared / "finished", shared / "finished.stamp"
        if not stamp.exists():
            shutil.rmtree(folder, ignore_errors=True)
            done = copy_project(folder).snakemake("--cores", "2", "--configfile", "config/test.yaml", *SHARED_MACHINE)
            assert done.returncode == 0, done.stdout[-20000:]
            stamp.touch()
    return Project(folder)
