"""Counts of evaluations: the costs of a sampler that do not depend on the machine."""

from dataclasses import astuple, dataclass
from typing import NamedTuple

from rnshmc.types import Array, Driver, Potential


class Counts(NamedTuple):
    """How often each thing was evaluated."""

    evaluations: int
    """Calls of the exact potential, whatever was asked for: each goes through the data, or factorises, once."""
    values: int
    """Exact potentials, whether or not the gradient came along."""
    gradients: int
    """Exact gradients."""
    metrics: int
    """Exact metrics."""
    surrogate_gradients: int
    """Gradients of a surrogate."""


@dataclass
class Counter:
    """A running total that the counting wrappers of one chain share."""

    evaluations: int = 0
    values: int = 0
    gradients: int = 0
    metrics: int = 0
    surrogate_gradients: int = 0

    def total(self) -> Counts:
        """The counts so far."""
        return Counts(*astuple(self))


class CountedPotential:
    """An exact potential whose evaluations are counted."""

    def __init__(self, potential: Potential, counter: Counter) -> None:
        self._potential = potential
        self._counter = counter

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self._potential.dim

    def value(self, q: Array) -> float:
        """U(q)."""
        self._counter.evaluations += 1
        self._counter.values += 1
        return self._potential.value(q)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at ``q``."""
        self._counter.evaluations += 1
        self._counter.gradients += 1
        return self._potential.gradient(q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient: one of each, in one evaluation."""
        self._counter.evaluations += 1
        self._counter.values += 1
        self._counter.gradients += 1
        return self._potential.value_and_grad(q)


class CountedDriver:
    """A surrogate driver whose gradients are counted."""

    def __init__(self, driver: Driver, counter: Counter) -> None:
        self._driver = driver
        self._counter = counter

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self._driver.dim

    def gradient(self, q: Array) -> Array:
        """Gradient of the surrogate at ``q``."""
        self._counter.surrogate_gradients += 1
        return self._driver.gradient(q)
