"""The workflow on a real Slurm, which scripts/test-slurm.sh starts for these tests: make test-slurm."""

import os
import re
import subprocess
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rnshmc.store.chains import read_chain
from tests.workflow.conftest import Project, copy_project
from tests.workflow.test_resume import CHAIN, KEPT, TARGET, configure, contents, continued_at

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif("RNSHMC_SLURM" not in os.environ, reason="needs a Slurm of its own: make test-slurm"),
]

RUN = ("--configfile", "config/test.yaml")
# Jobs end within seconds here: looked after every other second. Logs show what Slurm was given.
SLURM = (
    *("--profile", "profiles/slurm"),
    *("--slurm-init-seconds-before-status-checks", "2", "--slurm-keep-successful-logs"),
)
POLL_S, PATIENCE_S = 0.05, 300.0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A copy of the project with the run "test" made by Slurm, and its output."""
    project = copy_project(tmp_path_factory.mktemp("slurm") / "project")
    done = project.snakemake(*RUN, *SLURM)
    assert done.returncode == 0, done.stdout[-20000:]
    return project, done.stdout


def slurm_jobs(project: Project) -> Counter[str]:
    """Jobs submitted to Slurm, by rule or group: folders of their logs."""
    logs = project.folder / ".snakemake/slurm_logs"
    return Counter(path.relative_to(logs).parts[0] for path in logs.rglob("*.log"))


def test_folders_of_job_steps_are_this_slurms_own() -> None:
    """Left in /tmp by a killed Slurm, the folder of job 33 stopped job 33 of every later one."""
    listed = ["srun", "sh", "-c", 'ls -d "$RNSHMC_SLURM"/spmix_appdir_*_"$SLURM_JOB_ID".0']
    step = subprocess.run(listed, capture_output=True, text=True, check=False)
    assert step.returncode == 0, step.stderr


def test_a_run_goes_through_slurm_and_leaves_nothing_to_do(finished: tuple[Project, str]) -> None:
    project, _ = finished
    assert (project.folder / "results/test/report/index.html").stat().st_size > 0
    assert project.jobs("--cores", "2", *RUN) == {}


def test_short_jobs_go_in_groups(finished: tuple[Project, str]) -> None:
    project, _ = finished
    given, made = slurm_jobs(project), len(list(project.folder.glob("results/test/metrics/*.json")))
    assert "rule_metrics" not in given
    assert 1 <= given["group_metrics_metrics"] < made / 5


def test_mpi_jobs_are_launched_by_srun_on_their_ranks(finished: tuple[Project, str]) -> None:
    project, _ = finished
    (log,) = (project.folder / ".snakemake/slurm_logs/rule_forward_model").rglob("*.log")
    assert re.search(r"resources: .*mpi=srun, tasks=2", log.read_text(encoding="utf-8"))
    assert (project.folder / "results/test/forward/pde.npz").exists()


def test_no_job_was_tried_twice_and_no_state_asked_of_the_accounting_database(finished: tuple[Project, str]) -> None:
    _, said = finished
    assert not re.search("Trying to restart", said)
    calls = Path(os.environ["RNSHMC_SLURM"]) / "sacct.calls"
    # The plugin asks for an account once, and does without where there is no answer.
    asked = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    assert [call for call in asked if "Account" not in call] == []


def running(rule: str) -> list[str]:
    """Ids of the running Slurm jobs of a rule, which the plugin writes into their comments."""
    command = ["squeue", "--noheader", "--states=RUNNING", "--format=%i %k"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in lines if line.split()[1].startswith(f"rule_{rule}_")]


def requeue_when_kept(checkpoint: Path, run: Future[CompletedProcess[str]]) -> None:
    """Requeue the running chain job once it has a checkpoint."""
    deadline = time.monotonic() + PATIENCE_S
    while not (checkpoint.exists() and (jobs := running("sample"))):
        assert not run.done(), run.result().stdout
        assert time.monotonic() < deadline
        time.sleep(POLL_S)
    subprocess.run(["scontrol", "requeue", jobs[0]], check=True)
    # Slurm would let it wait for two minutes.
    subprocess.run(["scontrol", "update", f"JobId={jobs[0]}", "StartTime=now"], check=True)


def test_a_requeued_chain_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    """Requeued once on Slurm, and never interrupted on the local executor."""
    requeued, whole = (copy_project(tmp_path / name) for name in ("requeued", "whole"))
    for project in (requeued, whole):
        configure(project, every_s=0.0)
    kept = requeued.folder / "results/test/checkpoints/lr_simulated/arns_hmc/chain1.npz"
    with ThreadPoolExecutor() as pool:
        run = pool.submit(requeued.snakemake, "--configfile", "config/resume.yaml", *SLURM, *TARGET)
        requeue_when_kept(kept, run)
    assert run.result().returncode == 0, run.result().stdout
    assert "Trying to restart" not in run.result().stdout
    assert 0 < continued_at(requeued, CHAIN, KEPT) < KEPT
    assert not kept.exists()

    done = whole.snakemake("--cores", "1", "--configfile", "config/resume.yaml", *TARGET)
    assert done.returncode == 0, done.stdout
    chains = [read_chain(project.folder / f"results/test/{CHAIN}.nc") for project in (requeued, whole)]
    assert contents(chains[0]) == contents(chains[1])
