"""A killed chain job continues from its checkpoint, and ends with the bytes of an uninterrupted one."""

import os
import re
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import psutil
import pytest
import yaml

from rnshmc.random import stream
from rnshmc.store.chains import StoredChain, read_chain
from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.workflow

EXPLORED, KEPT = 200, 1200
"""Iterations that take seconds, so that there is time to kill."""
RUN = ("--cores", "1", "--configfile", "config/resume.yaml")
EXPLORATION, CHAIN = "explore/lr_simulated/chain1", "chains/lr_simulated/arns_hmc/chain1"
TARGET = ("--", f"results/test/{CHAIN}.nc")
POLL_S, PATIENCE_S = 0.005, 300.0


def made(folder: Path) -> Project:
    """A copy of the project with a config for one chain that is long enough."""
    project = copy_project(folder)
    configure(project, every_s=0.0)
    return project


def configure(project: Project, *, every_s: float) -> None:
    folder = project.folder
    config = yaml.safe_load((folder / "config/test.yaml").read_text(encoding="utf-8"))
    config |= {"chains": 1, "checkpoint": {"every_s": every_s}}
    config["iterations"]["explore"] = EXPLORED
    # All rows: jobs that are slow enough to be killed midway.
    config["problems"]["lr_simulated"]["data"] = "data/processed/lr_simulated.npz"
    config["problems"]["lr_simulated"]["samplers"]["arns_hmc"]["keep"] = KEPT
    (folder / "config/resume.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def kill_midway(project: Project, rule: str, checkpoint: Path, *, renewals: int, delay_s: float) -> None:
    """Run the workflow, and kill -9 the process of ``rule`` a while after its checkpoint was renewed so often."""
    before = modified(checkpoint)
    with ThreadPoolExecutor() as pool:
        run = pool.submit(project.snakemake, *RUN, *TARGET)
        for _ in range(renewals):
            before = wait_for_another(checkpoint, before, run)
        time.sleep(delay_s)
        os.kill(job_process(project, rule).pid, signal.SIGKILL)
    assert run.result().returncode != 0
    assert checkpoint.exists()


def modified(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def wait_for_another(path: Path, before: int, run: Future[CompletedProcess[str]]) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while (now := modified(path)) == before or now == 0:
        assert not run.done(), run.result().stdout
        assert time.monotonic() < deadline
        time.sleep(POLL_S)
    return now


def job_process(project: Project, rule: str) -> psutil.Process:
    """The process that runs the script of ``rule``."""
    (found,) = (
        process
        for process in psutil.Process().children(recursive=True)
        if process.cwd() == str(project.folder) and process.cmdline()[-1].endswith(f".{rule}.py")
    )
    return found


def continued_at(project: Project, name: str, iterations: int) -> int:
    """The iteration at which the last job of a chain continued, from its log."""
    log = (project.folder / f"logs/test/{name}.log").read_text(encoding="utf-8")
    found = re.search(rf"continues from checkpoint at iteration (\d+) of {iterations}", log)
    assert found, log
    return int(found.group(1))


def contents(chain: StoredChain) -> dict[str, bytes]:
    assert chain.warmup is not None
    assert chain.warmup_stats is not None
    arrays = {"draws": chain.draws, **chain.stats, "warmup": chain.warmup}
    arrays |= {f"warmup {name}": values for name, values in chain.warmup_stats.items()}
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


def test_killed_jobs_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed once in the exploration, and twice in a chain whose driver learns."""
    project, rng = made(tmp_path / "project"), stream(1, "kill")
    checkpoints = project.folder / "results/test/checkpoints/lr_simulated"
    exploration, chain = checkpoints / "explore/chain1.npz", checkpoints / "arns_hmc/chain1.npz"
    reached = []
    for rule, checkpoint in (("explore", exploration), ("sample", chain), ("sample", chain)):
        kill_midway(project, rule, checkpoint, renewals=int(rng.integers(2, 4)), delay_s=rng.uniform(0.0, 0.1))
        if rule == "sample":
            with np.load(checkpoint) as kept:
                reached.append(len(kept["draws"]))
    assert 0 < continued_at(project, EXPLORATION, EXPLORED) < EXPLORED
    assert not exploration.exists()
    done = project.snakemake(*RUN, *TARGET)
    assert done.returncode == 0, done.stdout
    assert 0 < reached[0] < reached[1] == continued_at(project, CHAIN, KEPT) < KEPT
    assert [path for path in checkpoints.rglob("*") if path.is_file()] == []

    other = made(tmp_path / "other")
    done = other.snakemake(*RUN, *TARGET)
    assert done.returncode == 0, done.stdout
    killed, whole = (read_chain(made.folder / f"results/test/{CHAIN}.nc") for made in (project, other))
    assert contents(killed) == contents(whole)
    assert killed.phases["learnt"] == whole.phases["learnt"]

    # Another interval runs nothing again.
    configure(project, every_s=5.0)
    assert project.jobs(*RUN, *TARGET) == {}
