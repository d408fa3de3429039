"""Sending a model to workers, once to each and by a key afterwards, and evaluating it there."""

import hashlib
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import cloudpickle

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Answer, Evaluable, failed
from rnshmc.types import Array

_unpacked: dict[str, Evaluable] = {}
"""Models that this worker received, by their keys."""


@dataclass(frozen=True)
class Missing:
    """A worker's answer that it does not have the model yet."""


class PickledModel:
    """A model, pickled once however often it is sent; threads use the model itself."""

    def __init__(self, key: str, content: bytes | None, model: Evaluable | None) -> None:
        self._key = key
        self._content = content
        self._model = model

    @classmethod
    def of(cls, model: Evaluable) -> "PickledModel":
        """The parcel of a model.

        Raises
        ------
        ParameterError
            If it cannot be pickled.
        """
        content = packed(model)
        return cls(hashlib.sha256(content).hexdigest(), content, model)

    @classmethod
    def kept(cls, model: Evaluable) -> "PickledModel":
        """The parcel of a model for threads of this process, without pickling."""
        return cls("", None, model)

    def label(self) -> "PickledModel":
        """The parcel without content, for workers that have the model."""
        return PickledModel(self._key, None, self._model)

    def __reduce__(self) -> Any:
        return _received, (self._key, self._content)

    def model(self) -> Evaluable | None:
        """The model; None if it was not sent along and is not here."""
        return self._model


def packed(model: Evaluable) -> bytes:
    """A model as bytes, with all that it uses of a script or notebook, which workers cannot import.

    Raises
    ------
    ParameterError
        If it cannot be pickled.
    """
    try:
        content: bytes = cloudpickle.dumps(model)
    except Exception as error:
        raise ParameterError(
            f"target: it cannot be sent to a worker ({type(error).__name__}: {error}); create inside "
            "the function what cannot be pickled, such as open files, locks and handles of libraries"
        ) from error
    return content


def _received(key: str, content: bytes | None) -> PickledModel:
    """The parcel on a worker; its content is unpickled once."""
    if content is not None and key not in _unpacked:
        _unpacked[key] = cloudpickle.loads(content)
    return PickledModel(key, content, _unpacked.get(key))


def evaluate_parcel(parcel: PickledModel, x: Array, gradient: bool, time_limit: float | None) -> Answer | Missing:
    """Evaluate the model of a parcel at ``x``, shape (d,), within a number of seconds."""
    model = parcel.model()
    if model is None:
        return Missing()
    if time_limit is None:
        return model.evaluate(x, gradient=gradient)
    return _within(model, x, gradient, time_limit)


def evaluate_item(item: tuple[PickledModel, int, Array, bool, float | None]) -> tuple[int, Answer | Missing]:
    """The same for `map`, with the number of the task."""
    parcel, number, x, gradient, time_limit = item
    return number, evaluate_parcel(parcel, x, gradient, time_limit)


def too_slow(x: Array, time_limit: float, *, gradient: bool) -> Answer:
    """The answer for an evaluation that exceeded the time limit."""
    return failed(x, f"it took longer than time_limit = {time_limit:g} s", gradient=gradient)


def _within(model: Evaluable, x: Array, gradient: bool, time_limit: float) -> Answer:
    """An evaluation that is abandoned after some seconds.

    A thread of a worker in the user's pool cannot be stopped, but need not be waited for.
    """
    answer: Future[Answer] = Future()

    def evaluate() -> None:
        try:
            answer.set_result(model.evaluate(x, gradient=gradient))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=evaluate, daemon=True).start()
    try:
        return answer.result(time_limit)
    except TimeoutError:
        return too_slow(x, time_limit, gradient=gradient)
