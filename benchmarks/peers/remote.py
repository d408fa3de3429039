"""A potential or model in a process of another environment: the elliptic one needs dolfinx, which NumPy 2 may exclude.

Run as a program it is the other end: `python -m peers.remote MODULE:FUNCTION DATA` answers on its standard streams.
"""

import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.types import Array

ROOT = Path(__file__).parents[2]
PROJECTS_PYTHON = (str(ROOT / "scripts/in-env.sh"), "env", f"PYTHONPATH={ROOT / 'benchmarks'}", "python")
_OK, _FAILED = b"+", b"-"
_VALUE, _GRADIENT = b"v", b"g"
_FORWARD, _TANGENT, _ADJOINT = b"f", b"t", b"a"


class _Remote:
    """What another process computes, from its first request on."""

    def __init__(self, maker: str, data: Path, dim: int, python: Sequence[str] = PROJECTS_PYTHON) -> None:
        self.dim = dim
        self._command = [*python, "-m", "peers.remote", maker, str(data)]

    @cached_property
    def _process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, request: bytes, *arguments: Array) -> Array:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        requests.write(request + b"".join(argument.tobytes() for argument in arguments))
        requests.flush()
        status = answers.read(1)
        if status == _FAILED:
            raise NumericalError("what the other process computes cannot be evaluated")
        if status != _OK:
            raise ConnectionError("the process that evaluates has ended")
        (count,) = struct.unpack("q", answers.read(8))
        return np.frombuffer(answers.read(8 * count)).copy()


class RemotePotential(_Remote):
    """A potential whose values and gradients another process computes, which starts at once."""

    def __init__(self, maker: str, data: Path, dim: int, python: Sequence[str] = PROJECTS_PYTHON) -> None:
        super().__init__(maker, data, dim, python)
        assert self._process.pid

    def value(self, q: Array) -> float:
        return float(self._ask(_VALUE, q)[0])

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        answer = self._ask(_GRADIENT, q)
        return float(answer[0]), answer[1:]


class RemoteModel(_Remote):
    """A forward model that another process runs."""

    def forward(self, x: Array) -> Array:
        return self._ask(_FORWARD, x)

    def jvp(self, x: Array, v: Array) -> Array:
        return self._ask(_TANGENT, x, v)

    def vjp(self, x: Array, w: Array) -> Array:
        return self._ask(_ADJOINT, x, w)


def serve(maker: str, data: Path, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end."""
    module, function = maker.split(":")
    served = getattr(import_module(module), function)(data)
    while request := requests.read(1):
        try:
            answer = _answer(served, request, lambda count: np.frombuffer(requests.read(8 * count)).copy())
            answers.write(_OK + struct.pack("q", len(answer)) + answer.tobytes())
        except NumericalError:
            answers.write(_FAILED)
        answers.flush()


def _answer(served: Any, request: bytes, read: Callable[[int], Array]) -> Array:
    """All arguments are read before anything is computed: a failure leaves nothing of its request behind."""
    q = read(served.dim)
    if request == _VALUE:
        return np.array([served.value(q)])
    if request == _GRADIENT:
        value, gradient = served.value_and_grad(q)
        return np.append(value, gradient)
    if request == _FORWARD:
        return np.asarray(served.forward(q), dtype=np.float64)
    product, size = (served.jvp, served.dim) if request == _TANGENT else (served.vjp, served.outputs)
    return np.asarray(product(q, read(size)), dtype=np.float64)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer)
