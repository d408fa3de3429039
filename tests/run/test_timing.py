"""Timing: seconds of blocks, and a mark on those that other work disturbed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.run.counting import CountedPotential, Counter
from rnshmc.run.timing import LOADED_CORES, Timing, time_kernel
from rnshmc.targets.gaussian import Gaussian

BUSY = "print(flush=True)\nwhile True: pass"


@contextmanager
def busy_process() -> Iterator[None]:
    """Another process that works without end."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def timed() -> Timing:
    """A fifth of a second or more, many ticks of the clock that counts the work of all cores."""
    counter = Counter()
    potential = CountedPotential(Gaussian(np.zeros(20), np.eye(20)), counter)
    kernel = HMC(potential, potential, step_size=0.1, n_steps=(10, 10))
    rng = stream(1, "timing")
    return time_kernel(kernel, kernel.init(np.zeros(20)), blocks=5, block_iterations=100, rng=rng, counter=counter)


def test_seconds_measured_beside_a_busy_process_are_marked() -> None:
    """Whether or not it slowed the chain: the mark must not wait until the seconds are off."""
    with busy_process():
        assert timed().loaded


@pytest.mark.parametrize(("other_cores", "loaded"), [(0.0, False), (LOADED_CORES, False), (LOADED_CORES + 0.01, True)])
def test_the_mark_follows_the_cores_of_others(other_cores: float, loaded: bool) -> None:
    assert Timing(np.ones(2), other_cores).loaded is loaded
