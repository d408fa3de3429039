"""Who evaluates: this process, processes of ours, or an executor of the user's with `submit` or `map`."""

import contextlib
import os
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pickle import PicklingError
from queue import SimpleQueue
from typing import Any, Protocol

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Answer, failed
from rnshmc.inference.exact.model import Model
from rnshmc.inference.exact.processes import Processes
from rnshmc.inference.exact.shipping import Missing, Parcel, evaluate_item, evaluate_parcel
from rnshmc.inference.exact.trouble import EvaluationError
from rnshmc.types import Array

Pool = Any
"""None, a number of processes, or an object with `submit` or `map`."""


_NOT_THERE = (PicklingError, ImportError, AttributeError, TypeError)
"""What a worker without rnshmc, or with another version of it, answers; an evaluation of ours raises none of them."""


@dataclass(frozen=True, eq=False)
class Task:
    """A point that is to be evaluated, in the user's coordinates."""

    number: int
    x: Array
    gradient: bool


class Workers(Protocol):
    """Who evaluates tasks, in any order."""

    @property
    def slots(self) -> int | None:
        """Tasks that it can use at a time; None: any number."""
        ...

    def submit(self, task: Task) -> None:
        """Take a task on."""
        ...

    def next(self) -> tuple[Task, Answer]:
        """Wait for a task that is done; there has to be one that is not handed back yet."""
        ...

    def withdraw(self, task: Task) -> bool:
        """Take a task back, and say whether that was possible: it has not started."""
        ...

    def close(self) -> None:
        """Give up what is not done."""
        ...


def make_workers(pool: Pool, model: Model, *, time_limit: float | None) -> Workers:
    """The workers behind ``pool=``.

    Parameters
    ----------
    pool
        None for this process (with a time limit: one process of ours, for only a process can be stopped), a number of
        processes of ours, or an object with ``submit``, as `concurrent.futures`, `mpi4py.futures` and Dask have it, or
        with ``map``.
    model
        What is evaluated.
    time_limit
        Seconds after which an evaluation has failed, None for no limit.

    Raises
    ------
    ParameterError
        If pool is none of these.
    """
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"time_limit: expected a positive number of seconds, got {time_limit}")
    if pool is None:
        return Here(model) if time_limit is None else Processes(model, 1, time_limit=time_limit)
    if isinstance(pool, int) and not isinstance(pool, bool):
        if pool < 1:
            raise ParameterError(f"pool: expected at least 1 process, got {pool}")
        return Processes(model, pool, time_limit=time_limit)
    if hasattr(pool, "get_executor"):  # Dask's client; its executor has the futures of concurrent.futures
        pool = pool.get_executor(pure=False)
    if callable(getattr(pool, "submit", None)):
        return Submitted(pool, model, time_limit=time_limit)
    if callable(getattr(pool, "map", None)):
        return Mapped(pool, model, time_limit=time_limit)
    raise ParameterError(f"pool: expected None, a number of processes, or an object with submit or map, got {pool!r}")


class Here:
    """This process, one task after another."""

    slots: int | None = 1

    def __init__(self, model: Model) -> None:
        self._model = model
        self._waiting: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        """Take a task on."""
        self._waiting.append(task)

    def next(self) -> tuple[Task, Answer]:
        """Evaluate the oldest task."""
        task = self._waiting[0]
        answer = self._model.evaluate(task.x, gradient=task.gradient)
        self._waiting.popleft()
        return task, answer

    def withdraw(self, task: Task) -> bool:
        """Take a task back."""
        self._waiting.remove(task)
        return True

    def close(self) -> None:
        """Give up what is not done."""
        self._waiting.clear()


class Submitted:
    """An executor with `submit`, which stays the user's: it is not shut down.

    The first tasks carry the model, later ones its key alone; a worker that does not have the model asks for it.
    """

    def __init__(self, executor: Any, model: Model, *, time_limit: float | None) -> None:
        self._executor = executor
        self._parcel = Parcel.kept(model) if isinstance(executor, ThreadPoolExecutor) else Parcel.of(model)
        self._limit = time_limit
        workers = worker_count(executor)
        self._to_ship = workers or os.cpu_count() or 1
        # One task runs on each worker and one waits for it.
        self.slots: int | None = workers and 2 * workers
        self._futures: dict[Future[Any], Task] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def submit(self, task: Task) -> None:
        """Hand a task to the executor."""
        self._send(task, self._parcel if self._to_ship > 0 else self._parcel.label())
        self._to_ship -= 1

    def next(self) -> tuple[Task, Answer]:
        """Wait for a task that is done."""
        while True:
            future = self._done.get()
            if (task := self._futures.pop(future, None)) is None:
                continue
            answer = self._answer(future, task)
            if not isinstance(answer, Missing):
                return task, answer
            self._send(task, self._parcel)

    def withdraw(self, task: Task) -> bool:
        """Cancel a task that no worker has taken."""
        for future, sent in self._futures.items():
            if sent.number == task.number and future.cancel():
                del self._futures[future]
                return True
        return False

    def close(self) -> None:
        """Cancel what is not running."""
        for future in self._futures:
            future.cancel()
        self._futures.clear()

    def _send(self, task: Task, parcel: Parcel) -> None:
        try:
            future = self._executor.submit(evaluate_parcel, parcel, task.x, task.gradient, self._limit)
        except (RuntimeError, BrokenExecutor) as error:
            raise EvaluationError(f"the pool takes no evaluations any more: {error}") from error
        self._futures[future] = task
        future.add_done_callback(self._done.put)

    @staticmethod
    def _answer(future: Any, task: Task) -> Answer | Missing:
        try:
            answer: Answer | Missing = future.result()
        except BrokenExecutor as error:
            raise EvaluationError(f"the pool has lost its workers: {error}") from error
        except _NOT_THERE as error:
            raise _unusable(error) from error
        except EvaluationError:
            raise
        except Exception as error:  # a worker that died under this evaluation, as Dask says it
            return failed(task.x, f"{type(error).__name__}: {error}"[:500], gradient=task.gradient)
        return answer


class Mapped:
    """An object with `map` alone: all waiting tasks go at once, and come back when the last of them is done.

    With `imap_unordered`, as `multiprocessing.Pool` has it, they come back one by one.
    """

    slots: int | None = None

    def __init__(self, pool: Any, model: Model, *, time_limit: float | None) -> None:
        self._map = getattr(pool, "imap_unordered", pool.map)
        self._parcel = Parcel.of(model)
        self._limit = time_limit
        self._to_ship = worker_count(pool) or os.cpu_count() or 1
        self._waiting: dict[int, Task] = {}
        self._under_way: dict[int, Task] = {}
        self._answers: Any = iter(())

    def submit(self, task: Task) -> None:
        """Take a task on."""
        self._waiting[task.number] = task

    def next(self) -> tuple[Task, Answer]:
        """Wait for a task that is done."""
        while True:
            try:
                number, answer = next(self._answers)
            except StopIteration:
                self._answers = self._start()
                continue
            except _NOT_THERE as error:
                raise _unusable(error) from error
            task = self._under_way.pop(number)
            if not isinstance(answer, Missing):
                return task, answer
            self._to_ship += 1
            self._waiting[number] = task

    def withdraw(self, task: Task) -> bool:
        """Take a task back that was not handed over."""
        return self._waiting.pop(task.number, None) is not None

    def close(self) -> None:
        """Give up what is not done."""
        self._waiting.clear()

    def _start(self) -> Any:
        tasks, self._waiting = self._waiting, {}
        items = []
        for task in tasks.values():
            parcel = self._parcel if self._to_ship > 0 else self._parcel.label()
            self._to_ship -= 1
            items.append((parcel, task.number, task.x, task.gradient, self._limit))
        self._under_way = tasks
        return iter(self._map(evaluate_item, items))


def worker_count(pool: Any) -> int | None:
    """How many workers a pool has, where it says so."""
    for name in ("_max_workers", "num_workers", "_processes", "size"):
        count = getattr(pool, name, None)
        if isinstance(count, int) and count > 0:
            return count
    with contextlib.suppress(Exception):
        return sum(pool._client.nthreads().values()) or None
    return None


def _unusable(error: Exception) -> EvaluationError:
    """What to do about workers that do not even begin."""
    return EvaluationError(
        f"the pool's workers cannot run rnshmc ({error!r}); install this version of it where they run"
    )
