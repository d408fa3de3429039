"""Targets that take all points of a batch in one call, such as arrays on a GPU or an array of jobs."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rnshmc.errors import EvaluationError, ParameterError
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.differentiated import DifferentiatedVectorized, is_jax
from rnshmc.inference.exact.evaluation import Answer, Evaluable, Task
from rnshmc.inference.exact.forward import Model
from rnshmc.inference.exact.forward_posterior import Runner
from rnshmc.inference.exact.target import is_function
from rnshmc.inference.exact.workers import Workers
from rnshmc.inference.given import plain
from rnshmc.types import Array

_Function = Callable[[Array], Any]


class VectorizedWorker(Workers):
    """This process, with all waiting tasks in one call of the user's function.

    The function of the model, a log density or a forward model, takes points as rows, (n, d), and returns a row for
    each: n log densities, or the pair of these and their gradients, (n, d); outputs, (n, ...), or a mapping to such. A
    separate gradient takes rows, too; a log density written in JAX is differentiated, each row by itself. An exception
    is a failure of all points of the call.
    """

    def __init__(self, model: Density | Runner) -> None:
        super().__init__()
        self._model = model
        self._done: deque[tuple[Task, Answer]] = deque()
        self._in_jax: DifferentiatedVectorized | None = None

    def next(self) -> tuple[Task, Answer]:
        """Return an answer, after evaluating all waiting tasks if there is none."""
        if not self._done:
            tasks = list(self._waiting.values())
            self._done.extend(zip(tasks, self._answers(tasks), strict=True))
            self._waiting.clear()
        return self._done.popleft()

    def _answers(self, tasks: list[Task]) -> list[Answer]:
        model = self._model
        if isinstance(model, Runner):
            points = np.array([model.forward_posterior.key(task.x) for task in tasks])
            outputs = _rows(_returned(model.forward, points), len(points))
            models: list[Evaluable] = [replace(model, forward=_returning(row)) for row in outputs]
        elif self._in_jax is None:
            points = np.array([task.x for task in tasks])
            returned = _returned(model.function, points)
            if model.gradient is None and is_jax(returned) and np.shape(returned) == (len(points),):
                # Most likely in single precision, and without gradients: request doubles from JAX from now on.
                self._in_jax = DifferentiatedVectorized(model.function)
                return [(one, replace(cost, values=cost.values + 1)) for one, cost in self._answers(tasks)]
            values = _rows(returned, len(points))
            slopes = _slopes(model, tasks, values)
            models = [replace(model, function=_returning(row), gradient=slopes[k]) for k, row in enumerate(values)]
        else:
            models = [replace(model, function=row, gradient=slope) for row, slope in _by_jax(self._in_jax, tasks)]
        return [one.evaluate(task.x, gradient=task.gradient) for one, task in zip(models, tasks, strict=True)]


def _by_jax(function: DifferentiatedVectorized, tasks: list[Task]) -> Iterator[tuple[_Function, _Function | None]]:
    """Functions that return the log density at each task's point, and its gradient if a task requests one."""
    points, sloped = np.array([task.x for task in tasks]), any(task.gradient for task in tasks)
    ask = function.values_and_gradients if sloped else function.values
    for row in _rows(_returned(ask, points), len(points)):
        if isinstance(row, BaseException) or not sloped:
            yield _returning(row), None
        else:
            yield _returning(row[0]), _returning(row[1])


def _slopes(model: Density, tasks: list[Task], values: list[Any]) -> list[_Function | None]:
    """Functions that return the gradients, or raise; None where none is requested or there is no such function."""
    found: list[_Function | None] = [None] * len(tasks)
    asked = [k for k, task in enumerate(tasks) if task.gradient and _positive(values[k])]
    if model.gradient is not None and asked:
        rows = _rows(_returned(model.gradient, np.array([tasks[k].x for k in asked])), len(asked))
        for k, row in zip(asked, rows, strict=True):
            found[k] = _returning(row)
    return found


def _positive(value: Any) -> bool:
    """Whether a row is a positive density, where a gradient can be requested."""
    if isinstance(value, tuple | BaseException) or np.size(value) != 1 or np.iscomplexobj(value):
        return False
    return bool(np.ravel(value)[0] > -np.inf)


def _returned(function: _Function, points: Array) -> Any:
    """The return value of a function of rows, or its exception."""
    try:
        return function(points.copy())
    except (EvaluationError, KeyboardInterrupt):
        raise
    except BaseException as error:  # `sys.exit` in a wrapped program, and panics of Rust, which are no `Exception`
        return error


def _rows(returned: Any, count: int) -> list[Any]:
    """The returned rows, or the exception for each row."""
    if isinstance(returned, BaseException):
        return [returned] * count
    try:
        return _split(returned, count)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # JAX raises where its arrays are read
        return [error] * count


def _split(returned: Any, count: int) -> list[Any]:
    """Rows of an array, of a pair of arrays, or of each array of a mapping; a `ParameterError` if the count differs."""
    if isinstance(returned, tuple):
        return list(zip(*(_split(part, count) for part in returned), strict=True))
    if isinstance(returned, Mapping):
        split = {name: _split(part, count) for name, part in returned.items()}
        return [{name: rows[k] for name, rows in split.items()} for k in range(count)]
    array = np.asarray(plain(returned, "vectorize"))
    if array.shape[:1] != (count,):
        shape = f"got shape {array.shape} for {count} points"
        raise ParameterError(f"vectorize: the target takes points as rows and returns a row for each, {shape}")
    return list(array)


def _returning(row: Any) -> _Function:
    """A function of one point that returns a row, or raises it if it is an exception."""

    def function(_: Array) -> Any:
        if isinstance(row, BaseException):
            raise row
        return row

    return function


def vectorized_worker(target: Any, evaluable: Evaluable, pool: Any, time_limit: float | None) -> VectorizedWorker:
    """The worker of a target that takes points as rows, with neither pool nor time limit."""
    for name, value in (("pool", pool), ("time_limit", time_limit)):
        if value is not None:
            raise ParameterError(f"{name}: not possible with vectorize=True: this process evaluates all points at once")
    if not (is_function(target) or isinstance(target, Model)):
        raise ParameterError(f"vectorize: expected a function of points as rows or a Model of one, got {target!r:.80}")
    assert isinstance(evaluable, Density | Runner)
    return VectorizedWorker(evaluable)
