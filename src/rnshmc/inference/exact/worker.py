"""The program that a worker process runs: take the model from a pipe, then points, and answer each."""

import math
import sys
from multiprocessing.connection import Connection

import cloudpickle

from rnshmc.inference.exact.model import Answer, Model

READY = "ready"
"""The first message of a worker: it has the model."""


def main() -> None:
    """Work until the other end of the pipe, whose descriptor is the argument, is closed."""
    pipe = Connection(int(sys.argv[1]))
    try:
        model, trouble = _unpacked(pipe.recv_bytes())
        pipe.send(READY)
        while True:
            x, gradient = pipe.recv()
            pipe.send(model.evaluate(x, gradient=gradient) if model else trouble)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def _unpacked(content: bytes) -> tuple[Model | None, Answer | None]:
    """The model, or what to say where it cannot be used."""
    try:
        model: Model = cloudpickle.loads(content)
    except Exception as error:
        said = f"the target cannot be used in a worker process: {type(error).__name__}: {error}"
        return None, Answer(math.nan, None, said, values=0, unavailable=True)
    return model, None
