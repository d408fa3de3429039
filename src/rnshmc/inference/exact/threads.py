"""Threads of linear algebra: one for the surrogate's small matrices, the caller's number for the target.

For matrices of a few hundred rows, one thread is faster than several: benchmarks/threads.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, so that the controller finds it
from threadpoolctl import ThreadpoolController

from rnshmc.inference.errstate import users_errstate
from rnshmc.inference.exact.evaluation import Answer, Task
from rnshmc.inference.exact.workers import Workers


class Threads:
    """The loaded BLAS libraries, and the number of threads of each when this was created."""

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
        self._set([1] * len(self._own))

    def release(self) -> None:
        """Switch back to the original number."""
        self._set(self._own)

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self._libraries, numbers, strict=True):
            library.set_num_threads(number)


class Unlimited(Workers):
    """Workers for which BLAS has the caller's number of threads within `Threads.one`, while they have a task."""

    def __init__(self, workers: Workers, threads: Threads) -> None:
        super().__init__()
        self.slots = workers.slots
        self._workers = workers
        self._threads = threads
        self._tasks = 0

    def submit(self, task: Task) -> None:
        """Accept a task."""
        if not self._tasks:
            self._threads.release()  # before processes start, which inherit the number
        self._tasks += 1
        self._workers.submit(task)

    def next(self) -> tuple[Task, Answer]:
        """Wait for a finished task."""
        with users_errstate():
            done = self._workers.next()
        self._end_of_one()
        return done

    def withdraw(self, task: Task) -> bool:
        """Withdraw a task that has not started; whether that was possible."""
        withdrawn = self._workers.withdraw(task)
        if withdrawn:
            self._end_of_one()
        return withdrawn

    def close(self) -> None:
        """Abandon unfinished tasks."""
        self._workers.close()

    def _end_of_one(self) -> None:
        self._tasks -= 1
        if not self._tasks:
            self._threads.limit()
