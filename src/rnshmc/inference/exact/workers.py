"""The interface of workers, and models sent to them: once to each, and by a key afterwards."""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import cloudpickle

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Answer, Evaluable, Task, failed
from rnshmc.types import Array

T = TypeVar("T")
_unpacked: dict[str, Evaluable] = {}
"""Models that this worker received, by key."""


class Workers:
    """Workers that evaluate tasks, in any order; tasks wait by number until they start."""

    slots: int | None = None
    """Number of tasks to submit at a time; None for no limit."""

    def __init__(self) -> None:
        self._waiting: dict[int, Task] = {}

    def submit(self, task: Task) -> None:
        """Accept a task."""
        self._waiting[task.number] = task

    def next(self) -> tuple[Task, Answer]:
        """Wait for a finished task; at least one must be outstanding.

        Raises `EvaluationError` if no task can be evaluated any more.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Abandon unfinished tasks."""
        self._waiting.clear()


class PickledModel:
    """A model that is pickled once however often it is sent; threads use the model itself."""

    def __init__(self, key: str, content: bytes | None, model: Evaluable | None) -> None:
        self._key, self._content = key, content
        self.model = model
        """None on a worker that has not received it."""

    @classmethod
    def of(cls, model: Evaluable) -> "PickledModel":
        """The pickled model; raises as `packed`."""
        content = packed(model)
        return cls(hashlib.sha256(content).hexdigest(), content, model)

    def label(self) -> "PickledModel":
        """The key alone, for workers that have the model."""
        return PickledModel(self._key, None, self.model)

    def __reduce__(self) -> Any:
        return _received, (self._key, self._content)


def packed(model: Evaluable) -> bytes:
    """A model as bytes, with its code from a script or notebook, which workers cannot import.

    Raises `ParameterError` if it cannot be pickled.
    """
    try:
        return bytes(cloudpickle.dumps(model))
    except Exception as error:
        raise ParameterError(
            f"target: it cannot be sent to a worker ({type(error).__name__}: {error}); create inside "
            "the function what cannot be pickled, such as open files, locks and handles of libraries"
        ) from error


def _received(key: str, content: bytes | None) -> PickledModel:
    """The model on a worker, unpickled once."""
    if content is not None and key not in _unpacked:
        _unpacked[key] = cloudpickle.loads(content)
    return PickledModel(key, content, _unpacked.get(key))


def evaluate_pickled(pickled: PickledModel, x: Array, gradient: bool, time_limit: float | None) -> Answer | None:
    """Evaluate a model at ``x``, shape (d,), within a number of seconds; None on a worker that has not received it."""
    model = pickled.model
    if model is None:
        return None
    if time_limit is None:
        return model.evaluate(x, gradient=gradient)
    try:
        return in_time(lambda: model.evaluate(x, gradient=gradient), time_limit)
    except TimeoutError:
        return too_slow(x, time_limit, gradient=gradient)


def evaluate_item(item: tuple[PickledModel, int, Array, bool, float | None]) -> tuple[int, Answer | None]:
    """The same for `map`, with the number of the task."""
    pickled, number, x, gradient, time_limit = item
    return number, evaluate_pickled(pickled, x, gradient, time_limit)


def too_slow(x: Array, time_limit: float, *, gradient: bool) -> Answer:
    """The answer for an evaluation that exceeded the time limit."""
    return failed(x, f"it took longer than time_limit = {time_limit:g} s", gradient=gradient)


def in_time(function: Callable[[], T], seconds: float) -> T:
    """The return value of a function, or a `TimeoutError` after some seconds.

    Its thread cannot be stopped, but need not be waited for.
    """
    answer: Future[T] = Future()

    def call() -> None:
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return answer.result(seconds)
