"""Counts of evaluations: the costs of a sampler that do not depend on the machine."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from rnshmc.types import (
    AdaptiveDriver,
    Array,
    Driver,
    MinibatchDriver,
    Potential,
    RiemannianDriver,
    RiemannianPotential,
)

P = TypeVar("P", bound=Potential)
D = TypeVar("D", bound=Driver)


@dataclass
class Counter:
    """Numbers of evaluations so far, which the counting wrappers of one chain share."""

    evaluations: int = 0
    """Calls of the exact potential for any result, including its metric and the contraction of its derivative. Each is
    one pass over the data, or one solution of the equation, with one factorisation per position."""
    values: int = 0
    """Exact potentials, with or without gradient."""
    gradients: int = 0
    """Exact gradients."""
    metrics: int = 0
    """Exact metrics."""
    surrogate_gradients: int = 0
    """Gradients of a surrogate."""
    surrogate_metrics: int = 0
    """Metrics of a surrogate."""
    softened_metrics: int = 0
    """Metrics that differ from the surrogate's Hessian, because it is not safely positive definite."""
    minibatch_gradients: int = 0
    """Gradients estimated from mini-batches of the data."""


class CountedPotential(Generic[P]):
    """An exact potential whose evaluations are counted."""

    def __init__(self, potential: P, counter: Counter) -> None:
        self.dim = potential.dim
        self._potential, self._counter = potential, counter

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


class CountedRiemannianPotential(CountedPotential[RiemannianPotential]):
    """An exact potential with a metric, whose evaluations are counted."""

    def metric(self, q: Array) -> Array:
        """G(q)."""
        self._counter.evaluations += 1
        self._counter.metrics += 1
        return self._potential.metric(q)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """Contraction of the metric's derivative."""
        self._counter.evaluations += 1
        return self._potential.metric_vjp(q, factor)


class CountedDriver(Generic[D]):
    """A surrogate driver whose gradients are counted."""

    def __init__(self, driver: D, counter: Counter) -> None:
        self.dim = driver.dim
        self._driver, self._counter = driver, counter

    def gradient(self, q: Array) -> Array:
        """Gradient of the surrogate at ``q``."""
        self._counter.surrogate_gradients += 1
        return self._driver.gradient(q)


class CountedMinibatch(CountedDriver[Driver]):
    """A mini-batch whose gradients are counted."""

    def gradient(self, q: Array) -> Array:
        """The estimate of the gradient at ``q``."""
        self._counter.minibatch_gradients += 1
        return self._driver.gradient(q)


class CountedMinibatchDriver(CountedDriver[MinibatchDriver]):
    """An exact potential as the driver of a sampler on mini-batches, whose evaluations are counted."""

    def gradient(self, q: Array) -> Array:
        """Gradient of U at ``q``, from all data."""
        self._counter.evaluations += 1
        self._counter.gradients += 1
        return self._driver.gradient(q)

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> CountedMinibatch:
        """The gradient estimated from ``size`` observations."""
        return CountedMinibatch(self._driver.minibatch(rng, size, scaled=scaled), self._counter)


class CountedAdaptiveDriver(CountedDriver[AdaptiveDriver]):
    """A surrogate driver that learns, whose gradients are counted."""

    def __init__(self, driver: AdaptiveDriver, counter: Counter) -> None:
        super().__init__(driver, counter)
        self.update, self.adopt = driver.update, driver.adopt
        self.snapshot, self.restore = driver.snapshot, driver.restore


class SoftenedDriver(RiemannianDriver, Protocol):
    """The Riemannian view of a surrogate, whose metric is its Hessian wherever that is safely positive definite."""

    def softened(self, q: Array) -> bool:
        """Whether the metric at ``q`` differs from the Hessian."""


class CountedRiemannianDriver(CountedDriver[SoftenedDriver]):
    """The Riemannian view of a surrogate, whose evaluations are counted."""

    def metric(self, q: Array) -> Array:
        """G(q)."""
        self._counter.surrogate_metrics += 1
        self._counter.softened_metrics += self._driver.softened(q)
        return self._driver.metric(q)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """Contraction of the metric's derivative."""
        return self._driver.metric_vjp(q, factor)
