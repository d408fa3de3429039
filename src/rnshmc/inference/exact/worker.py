"""Program of a worker process: receive the model through a pipe, then evaluate each point received."""

import sys
from multiprocessing.connection import Connection

import cloudpickle

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.evaluation import Answer, Evaluable
from rnshmc.types import Array

READY = "ready"
"""First message of a worker: it has the model."""


def main() -> None:
    """Work until the pipe, whose descriptor is the argument, is closed at the other end."""
    pipe = Connection(int(sys.argv[1]))
    try:
        model = _unpacked(pipe.recv_bytes())
        pipe.send(READY)
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
