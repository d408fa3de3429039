"""How a model gets to workers: once to each, by a key afterwards. And what runs there."""

import hashlib
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import cloudpickle

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Answer, failed
from rnshmc.inference.exact.model import Model
from rnshmc.types import Array

_unpacked: dict[str, Model] = {}
"""The models that this worker was sent, by their keys."""


@dataclass(frozen=True)
class Missing:
    """A worker's answer that it was not sent the model yet."""


class Parcel:
    """A model that is pickled once, however often it is sent; a thread that gets it uses the model itself."""

    def __init__(self, key: str, content: bytes | None, model: Model | None) -> None:
        self._key = key
        self._content = content
        self._model = model

    @classmethod
    def of(cls, model: Model) -> "Parcel":
        """The parcel of a model.

        Raises
        ------
        ParameterError
            If it cannot be pickled.
        """
        content = packed(model)
        return cls(hashlib.sha256(content).hexdigest(), content, model)

    @classmethod
    def kept(cls, model: Model) -> "Parcel":
        """The parcel of a model for threads of this process, which use the model itself: it need not be pickled."""
        return cls("", None, model)

    def label(self) -> "Parcel":
        """The same without content, for workers that have it."""
        return Parcel(self._key, None, self._model)

    def __reduce__(self) -> Any:
        return _received, (self._key, self._content)

    def model(self) -> Model | None:
        """The model, None where it did not come along and is not here."""
        return self._model


def packed(model: Model) -> bytes:
    """A model as bytes; what it takes from a script or a notebook goes with it, for a worker cannot import that.

    Raises
    ------
    ParameterError
        If it cannot be pickled.
    """
    try:
        content: bytes = cloudpickle.dumps(model)
    except Exception as error:
        raise ParameterError(
            f"target: it cannot be sent to a worker ({type(error).__name__}: {error}); let it make inside the function "
            "what cannot be pickled, such as open files, locks and handles of libraries"
        ) from error
    return content


def _received(key: str, content: bytes | None) -> Parcel:
    """The parcel as it arrives at a worker; its content is looked at once."""
    if content is not None and key not in _unpacked:
        _unpacked[key] = cloudpickle.loads(content)
    return Parcel(key, content, _unpacked.get(key))


def evaluate_parcel(parcel: Parcel, x: Array, gradient: bool, time_limit: float | None) -> Answer | Missing:
    """Evaluate the model of a parcel at ``x``, shape (d,), within a number of seconds."""
    model = parcel.model()
    if model is None:
        return Missing()
    if time_limit is None:
        return model.evaluate(x, gradient=gradient)
    return _within(model, x, gradient, time_limit)


def evaluate_item(item: tuple[Parcel, int, Array, bool, float | None]) -> tuple[int, Answer | Missing]:
    """The same for `map`, with the number of the task."""
    parcel, number, x, gradient, time_limit = item
    return number, evaluate_parcel(parcel, x, gradient, time_limit)


def too_slow(x: Array, time_limit: float, *, gradient: bool) -> Answer:
    """An evaluation that took longer than it may."""
    return failed(x, f"it took longer than time_limit = {time_limit:g} s", gradient=gradient)


def _within(model: Model, x: Array, gradient: bool, time_limit: float) -> Answer:
    """An evaluation that is left to itself after some seconds.

    A thread of somebody else's worker cannot be stopped, but it need not be waited for.
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
