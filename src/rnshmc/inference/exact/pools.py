"""Workers that evaluate: this process, worker processes, or the user's executor; and the threads of linear algebra."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pickle import PicklingError
from queue import SimpleQueue
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, so that the controller finds it
from threadpoolctl import ThreadpoolController

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.evaluation import Answer, Evaluable, Task, failed
from rnshmc.inference.exact.processes import Processes
from rnshmc.inference.exact.workers import PickledModel, Workers, evaluate_item, evaluate_pickled

Pool = Any
"""None, a number of processes, or an object with `submit` or `map`."""
_NOT_THERE = (PicklingError, ImportError, AttributeError, TypeError)
"""Errors of a worker without rnshmc, or with another version of it; an evaluation raises none of them."""


def make_workers(pool: Pool, model: Evaluable, *, time_limit: float | None) -> Workers:
    """The workers for the argument ``pool`` of `rnshmc.sample`, with a time limit in seconds or None.

    They are this process for None (with a time limit one worker process, since only a process can be stopped), a number
    of worker processes, or an object with ``submit``, as in `concurrent.futures`, `mpi4py.futures` and Dask, or with
    ``map``; any other is a `ParameterError`.
    """
    if time_limit is not None and not (isinstance(time_limit, int | float | np.number) and time_limit > 0):
        raise ParameterError(f"time_limit: expected a positive number of seconds, got {time_limit!r:.80}")
    if pool is None:
        return _Here(model) if time_limit is None else Processes(model, 1, time_limit=time_limit)
    if isinstance(pool, int | np.integer) and not isinstance(pool, bool):
        if pool < 1:
            raise ParameterError(f"pool: expected at least 1 process, got {pool}")
        return Processes(model, int(pool), time_limit=time_limit)
    if hasattr(pool, "get_executor"):  # Dask's client; its executor has the futures of concurrent.futures
        pool = pool.get_executor(pure=False)
    if callable(getattr(pool, "submit", None)):
        return _Submitted(pool, model, time_limit=time_limit)
    if callable(getattr(pool, "map", None)):
        return _Mapped(pool, model, time_limit=time_limit)
    raise ParameterError(f"pool: expected None, a number of processes, or an object with submit or map, got {pool!r}")


class _Here(Workers):
    """This process, one task at a time."""

    slots = 1

    def __init__(self, model: Evaluable) -> None:
        super().__init__()
        self._model = model

    def next(self) -> tuple[Task, Answer]:
        task = self._waiting.pop(next(iter(self._waiting)))
        return task, self._model.evaluate(task.x, gradient=task.gradient)


class _Submitted(Workers):
    """An executor with `submit`; it belongs to the user and is not shut down.

    The first tasks carry the model, later ones only its key; a worker without the model requests it.
    """

    def __init__(self, executor: Any, model: Evaluable, *, time_limit: float | None) -> None:
        super().__init__()
        self._executor = executor
        threads = isinstance(executor, ThreadPoolExecutor)
        self._pickled = PickledModel("", None, model) if threads else PickledModel.of(model)
        self._limit = time_limit
        workers = worker_count(executor)
        self._to_ship = workers or os.cpu_count() or 1
        # On each worker, one task runs and one is queued.
        self.slots = workers and 2 * workers
        self._futures: dict[Future[Any], Task] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def submit(self, task: Task) -> None:
        self._send(task, self._pickled if self._to_ship > 0 else self._pickled.label())
        self._to_ship -= 1

    def next(self) -> tuple[Task, Answer]:
        while True:
            future = self._done.get()
            if (task := self._futures.pop(future, None)) is None:
                continue
            answer = self._answer(future, task)
            if answer is not None:
                return task, answer
            self._send(task, self._pickled)

    def close(self) -> None:
        for future in self._futures:
            future.cancel()
        self._futures.clear()

    def _send(self, task: Task, pickled: PickledModel) -> None:
        try:
            future = self._executor.submit(evaluate_pickled, pickled, task.x, task.gradient, self._limit)
        except (RuntimeError, BrokenExecutor) as error:
            raise EvaluationError(f"the pool no longer accepts evaluations: {error}") from error
        self._futures[future] = task
        future.add_done_callback(self._done.put)

    @staticmethod
    def _answer(future: Any, task: Task) -> Answer | None:
        try:
            answer: Answer | None = future.result()
        except BrokenExecutor as error:
            raise EvaluationError(f"the pool has lost its workers: {error}") from error
        except _NOT_THERE as error:
            raise _unusable(error) from error
        except EvaluationError:
            raise
        except (CancelledError, asyncio.CancelledError) as error:  # Dask's if its scheduler is lost
            raise EvaluationError(f"the pool has cancelled an evaluation: {error!r}") from error
        except Exception as error:  # Dask's error for a worker that died during this evaluation
            return failed(task.x, f"{type(error).__name__}: {error}"[:500], gradient=task.gradient)
        return answer


class _Mapped(Workers):
    """An object with only `map`: all waiting tasks are sent together and return when the last is done.

    With `imap_unordered`, as in `multiprocessing.Pool`, they return one by one.
    """

    def __init__(self, pool: Any, model: Evaluable, *, time_limit: float | None) -> None:
        super().__init__()
        self._map = getattr(pool, "imap_unordered", pool.map)
        self._pickled = PickledModel.of(model)
        self._limit = time_limit
        self._to_ship = worker_count(pool) or os.cpu_count() or 1
        self._under_way: dict[int, Task] = {}
        self._answers: Any = iter(())

    def next(self) -> tuple[Task, Answer]:
        while True:
            try:
                number, answer = next(self._answers)
            except StopIteration:
                self._answers = self._start()
                continue
            except _NOT_THERE as error:
                raise _unusable(error) from error
            task = self._under_way.pop(number)
            if answer is not None:
                return task, answer
            self._to_ship += 1
            self._waiting[number] = task

    def _start(self) -> Any:
        self._under_way, self._waiting = self._waiting, {}
        items = []
        for task in self._under_way.values():
            pickled = self._pickled if self._to_ship > 0 else self._pickled.label()
            self._to_ship -= 1
            items.append((pickled, task.number, task.x, task.gradient, self._limit))
        return iter(self._map(evaluate_item, items))


def worker_count(pool: Any) -> int | None:
    """Number of workers of a pool, if it is known."""
    for name in ("_max_workers", "num_workers", "_processes", "size"):
        count = getattr(pool, name, None)
        if isinstance(count, int) and count > 0:
            return count
    with suppress(Exception):
        return sum(pool._client.nthreads().values()) or None
    return None


def _unusable(error: Exception) -> EvaluationError:
    """The error for workers that cannot start."""
    return EvaluationError(
        f"the pool's workers cannot run rnshmc ({error!r}); install this version of it where they run"
    )


class Threads:
    """The loaded BLAS libraries, and the number of threads of each when this was created.

    The surrogate's small matrices take one thread, which is faster than several for a few hundred rows
    (benchmarks/threads.py); the target has the caller's number.
    """

    def __init__(self) -> None:
        self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        self._own = [library.num_threads for library in self._libraries]

    @contextmanager
    def one(self) -> Iterator[None]:
        """Context with one thread."""
        self.limit()
        try:
            yield
        finally:
            self.release()

    def limit(self) -> None:
        """Switch to one thread."""
        for library in self._libraries:
            library.set_num_threads(1)

    def release(self) -> None:
        """Switch back to the original number."""
        for library, number in zip(self._libraries, self._own, strict=True):
            library.set_num_threads(number)
