"""Evaluations on the workers of `mpi4py.futures`."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

PROGRAM = Path(__file__).with_name("futures_program.py")


def test_answers_failures_and_hangs_come_back(launch: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = launch(2, "-m", "mpi4py.futures", PROGRAM)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers[3] == "ValueError: no convergence"
    assert answers[5] == "it took longer than time_limit = 1 s"
    others = [i for i in range(10) if i not in (3, 5)]
    assert [answers[i] for i in others] == [-0.5 * float(x) ** 2 for x in np.linspace(-1, 1, 10)[others]]
