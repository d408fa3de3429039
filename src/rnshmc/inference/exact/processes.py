"""Worker processes, which can be killed when an evaluation hangs and may crash.

They are started as programs, not forked: scripts need no ``if __name__ == "__main__"``, and threads, MPI and JAX in
this process do no harm.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait

import cloudpickle

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.evaluation import Answer, Evaluable, Task, failed
from rnshmc.inference.exact.workers import Workers, packed, too_slow
from rnshmc.types import Array

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_READY = "ready"
"""First message of a worker: it has the model."""


@dataclass
class _Worker:
    """A process, the pipe to it, and its task."""

    process: "subprocess.Popen[bytes]"
    pipe: Connection
    task: Task | None = None
    ready: bool = False
    started: float = 0.0
    """Time at which it received the task, or became ready for it."""


class Processes(Workers):
    """``count`` worker processes, which receive the model when they start.

    BLAS has one thread in each, unless the environment sets another number. A process that has not answered after
    ``time_limit`` seconds is killed and replaced.
    """

    def __init__(self, model: Evaluable, count: int, *, time_limit: float | None) -> None:
        super().__init__()
        self._content = packed(model)
        self._limit = time_limit
        self._workers: list[_Worker] = []
        self.slots = self._count = count

    def submit(self, task: Task) -> None:
        """Accept a task."""
        super().submit(task)
        self._hand_out()

    def next(self) -> tuple[Task, Answer]:
        """Wait for a finished task."""
        while True:
            self._hand_out()
            busy = [worker for worker in self._workers if worker.task is not None]
            ready = set(wait([worker.pipe for worker in busy], self._patience(busy)))
            for worker in busy:
                if worker.pipe in ready and (done := self._collect(worker)):
                    return done
            for worker in busy:
                if self._limit is not None and worker.ready and time.monotonic() - worker.started >= self._limit:
                    task = self._lost(worker)
                    return task, too_slow(task.x, self._limit, gradient=task.gradient)

    def close(self) -> None:
        """Stop all processes."""
        super().close()
        for worker in self._workers:
            _stop(worker)
        self._workers.clear()

    def _hand_out(self) -> None:
        """Give waiting tasks to free workers, starting workers as needed."""
        free = [worker for worker in self._workers if worker.task is None]
        while self._waiting and (free or len(self._workers) < self._count):
            idle = len(free) > 0
            worker = free.pop() if idle else _start(self._content)
            if not idle:
                self._workers.append(worker)
            task = self._waiting.pop(next(iter(self._waiting)))
            worker.task, worker.started = task, time.monotonic()
            try:
                worker.pipe.send((task.x, task.gradient))
            except OSError:
                # One that died while idle is replaced; one that died at its start fails its task, in `_collect`.
                if idle:
                    self._waiting = {task.number: self._lost(worker), **self._waiting}

    def _patience(self, busy: list[_Worker]) -> float | None:
        """Seconds until the first worker exceeds the limit; startup is not limited."""
        started = [worker.started for worker in busy if worker.ready]
        if self._limit is None or not started:
            return None
        return max(0.0, min(started) + self._limit - time.monotonic())

    def _collect(self, worker: _Worker) -> tuple[Task, Answer] | None:
        """A worker's answer, or a failure if it died; None if it reported that it is ready."""
        try:
            answer: Answer | EvaluationError | str = worker.pipe.recv()
        except (EOFError, OSError):
            code = worker.process.wait()
            task = self._lost(worker)
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            return task, failed(task.x, f"the process that evaluated it ended with {how}", gradient=task.gradient)
        if isinstance(answer, str):
            worker.ready, worker.started = True, time.monotonic()
            return None
        assert worker.task is not None
        task, worker.task = worker.task, None
        if isinstance(answer, EvaluationError):
            raise answer
        return task, answer

    def _lost(self, worker: _Worker) -> Task:
        """Remove a worker; another is started when needed."""
        assert worker.task is not None
        _stop(worker)
        self._workers.remove(worker)
        return worker.task


def _start(content: bytes) -> _Worker:
    here, there = Pipe()
    environment = {**dict.fromkeys(_THREADS, "1"), **os.environ}
    with there:
        process = subprocess.Popen(
            # -P: a random.py in the working folder would hide the standard library's.
            [sys.executable, "-P", "-c", f"from {__name__} import work; work()", str(there.fileno())],
            pass_fds=[there.fileno()],
            env={**environment, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
            start_new_session=True,  # Ctrl-C is for this process to handle
        )
    with suppress(BrokenPipeError):  # it died, as its first task reports
        here.send_bytes(content)
    return _Worker(process, here)


def _stop(worker: _Worker) -> None:
    # The worker leads a session with all processes that it started, such as a solver that hangs.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    worker.pipe.close()


def work() -> None:
    """Program of a worker: evaluate points from the pipe, whose descriptor is the argument, until it is closed."""
    pipe = Connection(int(sys.argv[1]))
    try:
        model = _unpacked(pipe.recv_bytes())
        pipe.send(_READY)
        while True:
            x, gradient = pipe.recv()
            pipe.send(_answer(model, x, gradient))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def _unpacked(content: bytes) -> Evaluable | EvaluationError:
    """The model, or why it cannot be used."""
    try:
        model: Evaluable = cloudpickle.loads(content)
    except Exception as error:
        return EvaluationError(f"the target cannot be used in a worker process: {type(error).__name__}: {error}")
    return model


def _answer(model: Evaluable | EvaluationError, x: Array, gradient: bool) -> Answer | EvaluationError:
    """The evaluation, or why no point can be evaluated."""
    if isinstance(model, EvaluationError):
        return model
    try:
        return model.evaluate(x, gradient=gradient)
    except EvaluationError as error:
        return error
