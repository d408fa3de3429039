"""Who evaluates: every kind of pool gives the same answers, whatever single evaluations do."""

import contextlib
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Answer, Task
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.workers import Workers
from rnshmc.types import Array
from tests.inference.conftest import Sent, make_moody, make_normal


class OnlyMap:
    """The interface that emcee requires of a pool."""

    def __init__(self, pool: Any) -> None:
        self.map = pool.map


@contextlib.contextmanager
def dask_client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


POOLS: dict[str, Callable[[], Any]] = {
    "none": lambda: contextlib.nullcontext(None),
    "processes": lambda: contextlib.nullcontext(2),
    "threads": lambda: ThreadPoolExecutor(2),
    "executor": lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")),
    "multiprocessing": lambda: multiprocessing.get_context("forkserver").Pool(2),
    "dask": dask_client,
}


@pytest.fixture(scope="module", params=POOLS)
def pool(request: pytest.FixtureRequest) -> Iterator[Any]:
    with POOLS[request.param]() as made:
        yield made


@contextlib.contextmanager
def workers_of(pool: Any, target: Any, time_limit: float | None = None) -> Iterator[Workers]:
    workers = make_workers(pool, Density(target), time_limit=time_limit)
    try:
        yield workers
    finally:
        workers.close()


def answers(workers: Workers, points: Array, *, gradient: bool = True) -> dict[int, Answer]:
    """Answers by the number of the point, in the order in which they arrived."""
    for number, x in enumerate(points):
        workers.submit(Task(number, x, gradient))
    arrived = (workers.next() for _ in points)
    return {task.number: answer for task, answer in arrived}


def test_every_pool_gives_the_answers_of_this_process(pool: Any, points: Array) -> None:
    with workers_of(pool, make_normal()) as workers:
        found = answers(workers, points)
    assert sorted(found) == list(range(len(points)))
    here = Density(make_normal())
    for number, x in enumerate(points):
        expected, _ = here.evaluate(x, gradient=True)
        assert found[number][0].value == expected.value
        assert np.array_equal(found[number][0].gradient, expected.gradient)  # type: ignore[arg-type]


def test_failures_and_hangs_are_answers_and_the_others_continue(pool: Any, points: Array) -> None:
    points = points.copy()
    points[3, 0], points[5, 0] = 1.5, 2.5
    with workers_of(pool, make_moody(), time_limit=0.4) as workers:
        found = answers(workers, points)
    assert found[3][0].failure == "ValueError: no convergence"
    assert found[5][0].failure == "it took longer than time_limit = 0.4 s"
    assert (found[5][1].values, found[5][1].gradients) == (1, 1)
    assert [number for number in found if found[number][0].failure is None] == [
        number for number in found if number not in (3, 5)
    ]


def test_the_model_is_sent_to_a_worker_once(pool: Any, points: Array, tmp_path: Path) -> None:
    log = tmp_path / "arrivals"
    log.touch()
    # The workers of an executor need not find the tests where this process does.
    cloudpickle.register_pickle_by_value(sys.modules[Sent.__module__])
    with workers_of(pool, Sent(log)) as workers:
        for batch in (points, points[::-1]):
            answers(workers, np.tile(batch, (4, 1)), gradient=False)
    # The scheduler of Dask, in this process here, opens it too.
    arrivals = Counter(pid for pid in log.read_text().split() if pid != str(os.getpid()) or pool is None)
    assert set(arrivals.values()) <= {1}
    assert len(arrivals) <= 2


@pytest.mark.parametrize("name", ["processes", "threads"])
def test_answers_do_not_wait_for_the_slowest(name: str, points: Array) -> None:
    def slow_first(x: Array) -> float:
        time.sleep(0.5 if x[0] == 9 else 0.001)
        return 0.0

    points = points.copy()
    points[0, 0] = 9
    with POOLS[name]() as pool, workers_of(pool, slow_first) as workers:
        assert list(answers(workers, points))[-1] == 0


def test_a_pool_with_only_map_suffices(points: Array) -> None:
    with ThreadPoolExecutor(2) as threads, workers_of(OnlyMap(threads), make_normal()) as workers:
        assert sorted(answers(workers, points)) == list(range(len(points)))


def test_a_crash_costs_one_evaluation(points: Array) -> None:
    points = points.copy()
    points[2, 0] = 4
    with workers_of(2, make_moody()) as workers:
        found = answers(workers, points)
    assert found[2][0].failure == "the process that evaluated it ended with exit status 7"
    assert sum(answer.failure is not None for answer, _ in found.values()) == 1


def test_workers_that_cannot_start_fail_their_evaluations(points: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    # Larger than the buffer of a pipe, which a dead worker does not empty.
    large = np.zeros(1_000_000)
    with workers_of(2, lambda x: (-0.5 * float(x @ x) + large[0], -x)) as workers:
        found = answers(workers, points)
    failures = {answer.failure for answer, _ in found.values()}
    assert failures == {"the process that evaluated it ended with exit status 1"}


def test_an_executor_broken_by_a_crash_ends_the_run(points: Array) -> None:
    points = points.copy()
    points[2, 0] = 4
    context = multiprocessing.get_context("forkserver")
    with (
        ProcessPoolExecutor(1, mp_context=context) as pool,
        workers_of(pool, make_moody()) as workers,
        pytest.raises(EvaluationError, match=r"the pool (has lost its workers|takes no evaluations)"),
    ):
        answers(workers, points)


def test_a_pool_that_cancels_evaluations_ends_the_run_and_blames_no_point(points: Array) -> None:
    class Cancelling:
        """As a client of Dask whose scheduler is lost."""

        def submit(self, *_: Any) -> Future[Any]:
            future = Future[Any]()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with (
        workers_of(Cancelling(), make_normal()) as workers,
        pytest.raises(EvaluationError, match="the pool has cancelled an evaluation"),
    ):
        answers(workers, points)


def make_leaving() -> Callable[[Array], float]:
    """A model that exits, and one whose server is unavailable, by the first coordinate."""

    def leaving(x: Array) -> float:
        if x[0] > 2:
            raise EvaluationError("the server is gone")
        if x[0] > 1:
            sys.exit(3)
        return 0.0

    return leaving


@pytest.mark.parametrize("time_limit", [None, 60.0])
@pytest.mark.parametrize("name", ["none", "processes", "threads", "executor", "multiprocessing"])
def test_a_model_that_exits_fails_and_an_unavailable_server_ends_the_run(
    name: str, time_limit: float | None, points: Array
) -> None:
    points = points[:3].copy()
    points[1, 0] = 1.5
    with POOLS[name]() as pool, workers_of(pool, make_leaving(), time_limit) as workers:
        found = answers(workers, points)
        assert [found[number][0].failure for number in range(3)] == [None, "SystemExit: 3", None]
        with pytest.raises(EvaluationError, match="the server is gone"):
            answers(workers, np.full((1, 3), 2.5))


def test_a_target_that_cannot_be_pickled_is_refused_before_the_run(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:

        def unsendable(x: Array) -> float:
            file.write("")
            return 0.0

        with pytest.raises(ParameterError, match="target: it cannot be sent to a worker"):
            make_workers(2, Density(unsendable), time_limit=None)


def test_processes_end_with_the_run(points: Array) -> None:
    def whoami(x: Array) -> float:
        return float(os.getpid())

    with workers_of(2, whoami) as workers:
        processes = {int(-answer.value) for answer, _ in answers(workers, points).values()}
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_program_that_hangs_ends_with_its_worker(points: Array, tmp_path: Path) -> None:
    file = tmp_path / "number"

    def hangs(x: Array) -> float:
        program = subprocess.Popen(["sleep", "600"])
        file.write_text(str(program.pid))
        return float(program.wait())

    with workers_of(1, hangs, time_limit=2.0) as workers:
        [(answer, _)] = answers(workers, points[:1]).values()
    assert answer.failure == "it took longer than time_limit = 2 s"
    status, ends = Path(f"/proc/{file.read_text()}/stat"), time.monotonic() + 5.0
    with contextlib.suppress(FileNotFoundError):
        # Nobody may wait for it: what is left of it is a zombie.
        while ") Z " not in status.read_text():
            assert time.monotonic() < ends
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("pool", "message"),
    [(0, "pool: expected at least 1 process"), (True, "pool: expected None"), ("4", "pool: expected None")],
)
def test_unusable_pools_are_refused(pool: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_workers(pool, Density(make_normal()), time_limit=None)


def test_a_time_limit_is_positive() -> None:
    with pytest.raises(ParameterError, match="time_limit"):
        make_workers(None, Density(make_normal()), time_limit=0.0)


NESTED = """
import multiprocessing
import sys
import rnshmc

def half_square(x):
    return -0.5 * x * x

def target(x):
    with multiprocessing.Pool(1) as pool:
        return sum(pool.map(half_square, x.tolist()))

if __name__ == "__main__":
    pool = 1 if sys.argv[1] == "number" else multiprocessing.Pool(1)
    rnshmc.sample(target, [0.5], pool=pool, progress_bar=False)
"""


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (
            "number",
            "PicklingError: .*; processes that the target starts cannot import a script; put the functions they use",
        ),
        ("multiprocessing", "AssertionError: daemonic .*; give pool= a number or an executor of concurrent.futures:"),
    ],
)
def test_a_target_that_starts_processes_gets_a_hint(tmp_path: Path, pool: str, message: str) -> None:
    (tmp_path / "script.py").write_text(NESTED)
    command = [sys.executable, str(tmp_path / "script.py"), pool]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert re.search(f"ParameterError: target: it cannot be evaluated at x0: {message}", done.stderr), done.stderr
