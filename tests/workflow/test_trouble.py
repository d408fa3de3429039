"""Errors name the file or job and a remedy, and earlier results are unchanged."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.store.chains import read_chain
from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.workflow

EARLIER = ("explore/lr_simulated/chain1.nc", "chains/lr_simulated/hmc/chain1.nc", "reference/lr_simulated.npz")
JOB = "chains/lr_simulated/rmhmc/chain1.nc"
CONFIG = """
reference: {tolerance: 1.0}
problems:
  lr_simulated:
    data: data/processed/small.npz
    samplers: {rmhmc: {keep: 10}}
"""
ENDLESS = "problems: {lr_simulated: {samplers: {rmhmc: {keep: 1000000}}}}"
FILLER = "filler"
GOES_ON = "run the same command again to continue"


def make(project: Project, *targets: str, config: str = "") -> subprocess.CompletedProcess[str]:
    """Run the jobs that lead to some results."""
    return project.snakemake(*arguments(project, *targets, config=config))


def arguments(project: Project, *targets: str, config: str = "") -> list[str]:
    (project.folder / "more.yaml").write_text(CONFIG, encoding="utf-8")
    (project.folder / "extra.yaml").write_text(config or "{}", encoding="utf-8")
    configs = ["config/test.yaml", "more.yaml", "extra.yaml"]
    return ["--cores", "1", "--configfile", *configs, "--", *(f"results/test/{target}" for target in targets)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with a few finished results. Tests do not change it."""
    project = copy_project(tmp_path_factory.mktemp("trouble") / "project")
    simulate_logistic(300, 3, stream(1, "trouble")).save(project.folder / "data/processed/small.npz")
    done = make(project, *EARLIER)
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture(scope="module")
def before(base: Project) -> dict[str, str]:
    """The results in `base`."""
    return results(base)


@pytest.fixture
def begun(base: Project, tmp_path: Path) -> Project:
    """A copy of `base` to get into trouble with."""
    shutil.copytree(base.folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


def results(project: Project) -> dict[str, str]:
    """SHA-256 of each file among the results, except the one that fills a disk."""
    folder = project.folder / "results"
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != FILLER]
    return {str(path.relative_to(folder)): sha256(path) for path in files}


def assert_trouble(
    done: subprocess.CompletedProcess[str], project: Project, before: dict[str, str], *told: str
) -> None:
    """Assert that it failed with a message, changed no existing result, and added none."""
    assert done.returncode != 0
    for words in told:
        assert words in done.stdout
    assert results(project) == before


@pytest.fixture
def mount() -> Iterator[Callable[..., None]]:
    """``mount`` with some arguments, undone at the end; skips the test where that needs more rights."""
    places: list[str] = []

    def run(*options: str, on: Path) -> None:
        done = subprocess.run(["mount", *options, str(on)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"cannot mount, which needs root: {done.stderr.strip()}")
        places.append(str(on))

    yield run
    for place in reversed(places):
        subprocess.run(["umount", "--lazy", place], check=False)


def test_a_full_disk(begun: Project, before: dict[str, str], base: Project, mount: Callable[..., None]) -> None:
    folder = begun.folder / "results"
    mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", on=folder)
    shutil.copytree(base.folder / "results", folder, dirs_exist_ok=True)
    left, filler = os.statvfs(folder), folder / FILLER
    filler.write_bytes(bytes(left.f_bavail * left.f_frsize - 8192))
    done = make(begun, JOB)
    assert_trouble(done, begun, before, "chain1", "cannot be written: the disk is full; make room", GOES_ON)
    filler.unlink()
    assert make(begun, JOB).returncode == 0


COPY = """
import sys
from pathlib import Path
from rnshmc.store.chains import read_chain, write_chain
write_chain(Path(sys.argv[2]), read_chain(Path(sys.argv[1])))
"""


def test_no_room_for_a_chain_does_not_crash_hdf5(base: Project, tmp_path: Path, mount: Callable[..., None]) -> None:
    mount("-t", "tmpfs", "-o", "size=8k", "tmpfs", on=tmp_path)
    chain = tmp_path / "chain1.nc"
    command = [sys.executable, "-c", COPY, str(base.folder / "results/test" / EARLIER[1]), str(chain)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f"{chain} cannot be written: the disk is full; make room on it and run again")
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_results_folder(begun: Project, before: dict[str, str], mount: Callable[..., None]) -> None:
    folder = begun.folder / "results"
    mount("--bind", str(folder), on=folder)
    mount("-o", "remount,ro,bind", on=folder)
    done = make(begun, JOB)
    assert_trouble(
        done, begun, before, "results/test cannot be written: the file system is read-only; make it writable"
    )
    assert not list((begun.folder / ".snakemake/locks").glob("*"))


def test_a_damaged_chain(begun: Project) -> None:
    chain, fit = begun.folder / "results/test" / EARLIER[1], "lr_simulated/random_network/chain1"
    assert make(begun, f"surrogates/{fit}.npz").returncode == 0
    whole = chain.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"rubbish" * 1000):
        chain.write_bytes(damaged)
        before = results(begun)
        told = f"results/test/{EARLIER[1]}: cannot be read as a chain", "delete it and run the workflow again"
        done = make(begun, f"matching/{fit}.json")
        assert_trouble(done, begun, before, *told)
        assert "Traceback" not in done.stdout
    chain.unlink()
    assert make(begun, f"matching/{fit}.json").returncode == 0
    (chain.parent / "whole.nc").write_bytes(whole)
    assert np.array_equal(read_chain(chain).draws, read_chain(chain.parent / "whole.nc").draws)


@pytest.fixture
def running(begun: Project) -> Iterator["subprocess.Popen[str]"]:
    """Snakemake in the middle of a job that would take minutes, with a session of its own, like a terminal's."""
    command = [sys.executable, "-m", "snakemake", *arguments(begun, JOB, config=ENDLESS)]
    process = subprocess.Popen(
        command,
        cwd=begun.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A background job of a shell, as these tests may be, ignores interrupts, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    log = begun.folder / "logs/test/chains/lr_simulated/rmhmc/chain1.log"
    wait_until(lambda: log.exists() or process.poll() is not None)
    assert process.poll() is None
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Wait, in bounded time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def processes(project: Project) -> list[psutil.Process]:
    """All processes that work in the project's folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == project.folder:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            pass
    return found


def ended(process: "subprocess.Popen[str]") -> subprocess.CompletedProcess[str]:
    said, _ = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, said)


def test_two_runs_at_once(begun: Project, before: dict[str, str], running: "subprocess.Popen[str]") -> None:
    second = make(begun, JOB)
    assert_trouble(second, begun, before, "cannot be locked", str(begun.folder), "--unlock")
    assert running.poll() is None


def test_ctrl_c(begun: Project, before: dict[str, str], running: "subprocess.Popen[str]") -> None:
    os.killpg(running.pid, signal.SIGINT)
    done = ended(running)
    assert_trouble(done, begun, before, "interrupted; run the same command again to continue")
    assert "Traceback" not in done.stdout
    wait_until(lambda: not processes(begun), timeout_s=20)
    assert make(begun, JOB).returncode == 0


def test_the_power_goes(begun: Project, before: dict[str, str], running: "subprocess.Popen[str]") -> None:
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    wait_until(lambda: not processes(begun), timeout_s=20)
    assert_trouble(make(begun, JOB), begun, before, "cannot be locked", "--unlock")
    assert begun.snakemake("--unlock").returncode == 0
    assert make(begun, JOB).returncode == 0


def test_a_job_that_the_system_kills_for_its_memory(
    begun: Project, before: dict[str, str], running: "subprocess.Popen[str]"
) -> None:
    (job,) = (process for process in processes(begun) if any(".sample.py" in word for word in process.cmdline()))
    job.kill()
    told = f"Rule sample failed to make results/test/{JOB}", "It was killed", "mem_mb of sample under set-resources"
    assert_trouble(ended(running), begun, before, *told, GOES_ON)


def test_a_job_that_asks_for_too_much_memory(begun: Project, before: dict[str, str]) -> None:
    done = make(begun, JOB, config=ENDLESS.replace("1000000", str(10**14)))
    assert_trouble(done, begun, before, "memory ran out: Unable to allocate", "mem_mb", f"results/test/{JOB}")


def test_a_job_that_fails_leaves_the_result_that_it_was_to_replace(begun: Project, before: dict[str, str]) -> None:
    replaced, config = EARLIER[1], f"problems: {{lr_simulated: {{samplers: {{hmc: {{keep: {10**14}}}}}}}}}"
    done = make(begun, replaced, config=config)
    told = (
        f"Rule sample failed to make results/test/{replaced}",
        "memory ran out",
        "Finished results are kept;",
        GOES_ON,
    )
    assert_trouble(done, begun, before, *told)
    # It is no result of these settings, though, but one of the earlier settings.
    assert begun.jobs(*arguments(begun, replaced, config=config)) == {"sample": 1}
    assert begun.jobs(*arguments(begun, replaced)) == {}


BROKEN = """
import numpy as np

class Broken:
    dim = 3

    def value(self, q):
        return 0.5 * q @ q if np.abs(q).max() < {radius} else float("nan")

    def gradient(self, q):
        return q.copy()

    def value_and_grad(self, q):
        return self.value(q), self.gradient(q)

def from_file(path, *, prior_sd):
    return Broken()
"""


def explore_a_potential_that_is_nan_outside(radius: float, project: Project) -> subprocess.CompletedProcess[str]:
    """Explore with a user's mistake in place of the logistic regression."""
    (project.folder / "src/rnshmc/targets/broken.py").write_text(BROKEN.format(radius=radius), encoding="utf-8")
    registry = project.folder / "src/rnshmc/run/registry.py"
    named = registry.read_text(encoding="utf-8").replace("rnshmc.targets.logistic:", "rnshmc.targets.broken:")
    registry.write_text(named, encoding="utf-8")
    return make(project, "explore/lr_simulated/chain2.nc")


def test_a_potential_that_is_nan_at_the_start(begun: Project, before: dict[str, str]) -> None:
    done = explore_a_potential_that_is_nan_outside(0.0, begun)
    told = "start: the potential or its driver is not finite there (U = nan); look for a mistake", "chain2.nc"
    assert_trouble(done, begun, before, *told)
    assert "Traceback" not in done.stdout


def test_a_potential_that_turns_nan_midway(begun: Project, before: dict[str, str]) -> None:
    done = explore_a_potential_that_is_nan_outside(0.5, begun)
    assert done.returncode == 0, done.stdout
    chain = read_chain(begun.folder / "results/test/explore/lr_simulated/chain2.nc")
    flagged = chain.stats["diverging"]
    assert flagged.any()
    assert not chain.stats["accepted"][flagged].any()
    assert np.abs(chain.draws).max() < 0.5
    assert results(begun).items() >= before.items()


def test_a_missing_mpi(begun: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not program.name.startswith(("mpi", "orte")):
            (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    # What this job takes, so that nothing is compiled.
    stamp = begun.folder / "results/test/forward/forms.json"
    stamp.parent.mkdir()
    stamp.write_text("{}", encoding="utf-8")
    told = "Rule forward_model failed", "mpiexec is not on PATH", "apt-get install openmpi-bin", "mpi.launcher"
    before = results(begun)
    assert_trouble(make(begun, "forward/pde.npz"), begun, before, *told)
