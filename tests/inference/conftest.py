"""Models that take time, fail, hang and crash; a potential's room around them."""

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.target import make_model
from rnshmc.inference.result.state import State, States
from rnshmc.inference.transforms import make_transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array, Potential

Function = Callable[[Array], Any]


def make_normal() -> Function:
    """The standard normal with its gradient; made in a function, it is sent to workers by value."""

    def normal(x: Array) -> tuple[float, Array]:
        return -0.5 * float(x @ x), -x

    return normal


def make_moody(seconds: float = 0.0) -> Function:
    """A normal that raises beyond 1, hangs beyond 2 and takes the process down beyond 3, by the first coordinate."""

    def moody(x: Array) -> tuple[float, Array]:
        time.sleep(seconds)
        if x[0] > 3:
            os._exit(7)
        if x[0] > 2:
            time.sleep(3600)
        if x[0] > 1:
            raise ValueError("no convergence")
        return -0.5 * float(x @ x), -x

    return moody


def interrupted(function: Function, after: int) -> Function:
    """The function, with Ctrl-C after so many calls."""
    calls = itertools.count()

    def calling(x: Array) -> Any:
        if next(calls) == after:
            raise KeyboardInterrupt
        return function(x)

    return calling


class Sent:
    """A target that writes down each process it arrives in."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with self.log.open("a") as file:
            file.write(f"{os.getpid()}\n")

    def __call__(self, x: Array) -> float:
        time.sleep(0.002)
        return -0.5 * float(x @ x)


@pytest.fixture
def points() -> Array:
    """Points of three parameters at which nothing goes wrong."""
    return np.random.default_rng(5).uniform(-1, 1, size=(12, 3))


def evaluations_of_potential(potential: Potential, **settings: Any) -> Evaluations:
    """Evaluations of a potential in this process."""
    names = [f"x{i}" for i in range(potential.dim)]
    workers = make_workers(None, make_model(potential, None, potential.dim), time_limit=None)
    return Evaluations(workers, make_transform(None, names), **settings)


def evaluations_of(function: Function, dim: int = 3, **settings: Any) -> Evaluations:
    """Evaluations of a function in this process."""
    names = [f"x{i}" for i in range(dim)]
    pool, limit = settings.pop("pool", None), settings.pop("time_limit", None)
    transform = make_transform(settings.pop("bounds", None), names)
    return Evaluations(make_workers(pool, Density(function), time_limit=limit), transform, **settings)


def archive_of(potential: Potential, points: Array) -> Archive:
    archive = Archive.of(evaluations_of_potential(potential))
    archive.evaluate(points, "test")
    return archive


def state_of(archive: Archive, draws: int = 1000, **known: Any) -> State:
    """A run with default settings."""
    return State(archive, stream(1, "state"), DEFAULT, draws, **known)


def ended(states: States) -> State:
    """The last state of a run, which a generator returns."""
    while True:
        try:
            next(states)
        except StopIteration as end:
            return cast("State", end.value)
