"""A potential in a process of another environment: the elliptic problem needs dolfinx, which NumPy 2 may exclude.

Run as a program it is the other end: `python -m peers.remote MODULE:FUNCTION DATA` answers on its standard streams.
"""

import struct
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.types import Array

ROOT = Path(__file__).parents[2]
_OK, _FAILED = b"+", b"-"
_VALUE, _GRADIENT = b"v", b"g"


class RemotePotential:
    """A potential whose values and gradients another process computes."""

    def __init__(self, maker: str, data: Path, dim: int) -> None:
        self.dim = dim
        python = [str(ROOT / "scripts/in-env.sh"), "env", f"PYTHONPATH={ROOT / 'benchmarks'}", "python"]
        command = [*python, "-m", "peers.remote", maker, str(data)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def value(self, q: Array) -> float:
        return float(self._ask(_VALUE, q, 1)[0])

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        answer = self._ask(_GRADIENT, q, 1 + self.dim)
        return float(answer[0]), answer[1:]

    def _ask(self, request: bytes, q: Array, numbers: int) -> Array:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request + q.tobytes())
        self._process.stdin.flush()
        status = self._process.stdout.read(1)
        if status == _FAILED:
            raise NumericalError("the potential cannot be evaluated")
        if status != _OK:
            raise ConnectionError("the process that evaluates the potential has ended")
        return np.frombuffer(self._process.stdout.read(8 * numbers)).copy()


def serve(maker: str, data: Path, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end."""
    module, function = maker.split(":")
    potential = getattr(import_module(module), function)(data)
    while request := requests.read(1):
        q = np.frombuffer(requests.read(8 * potential.dim)).copy()
        try:
            value, gradient = (potential.value(q), []) if request == _VALUE else potential.value_and_grad(q)
            answers.write(_OK + struct.pack("d", value) + np.asarray(gradient, dtype=np.float64).tobytes())
        except NumericalError:
            answers.write(_FAILED)
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), sys.stdin.buffer, sys.stdout.buffer)
