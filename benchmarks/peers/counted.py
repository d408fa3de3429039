"""The exact potential behind one wrapper: evaluations and seconds of every call, whichever peer makes it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

import numpy as np
from peers.forward import ForwardProblem

from rnshmc.errors import NumericalError
from rnshmc.types import Array, Potential


class BudgetError(Exception):
    """A peer has spent the units that it may spend."""


class Counted:
    """log density and gradient of a potential, counted from the first call on, failed calls included.

    A value is 1 unit, a gradient 1 more. Where the potential cannot be evaluated the log density is -inf and the
    gradient zero.

    Parameters
    ----------
    potential
        The exact potential U; the log density is -U.
    max_units
        A call that would exceed it raises `BudgetError`.
    model
        The forward model behind the potential, for peers that emulate its outputs: a run is 1 unit, a product with its
        Jacobian 1. Where it cannot be run, a `NumericalError` is raised.
    """

    def __init__(self, potential: Potential, max_units: int, model: ForwardProblem | None = None) -> None:
        self._potential = potential
        self._model = model
        self.max_units = max_units
        self.dim = potential.dim
        self.values = 0
        self.gradients = 0
        self.failed = 0
        self.seconds = 0.0
        self.processor_seconds = 0.0

    @property
    def units(self) -> int:
        return self.values + self.gradients

    def log_density(self, q: Array) -> float:
        self._count(gradients=0)
        with self._timed():
            try:
                return -self._potential.value(np.asarray(q, dtype=np.float64))
            except NumericalError:
                self.failed += 1
                return -np.inf

    def log_density_and_gradient(self, q: Array) -> tuple[float, Array]:
        self._count(gradients=1)
        with self._timed():
            try:
                value, gradient = self._potential.value_and_grad(np.asarray(q, dtype=np.float64))
            except NumericalError:
                self.failed += 1
                return -np.inf, np.zeros(self.dim)
        return -value, -gradient

    def forward(self, x: Array) -> Array:
        """Outputs at the model's parameters x."""
        self._count(gradients=0)
        return self._of_model(lambda model: model.forward(np.array(x, dtype=np.float64)))

    def jvp(self, x: Array, v: Array) -> Array:
        """The Jacobian at x times v."""
        self._count(values=0, gradients=1)
        return self._of_model(lambda model: model.jvp(np.array(x, dtype=np.float64), np.array(v, dtype=np.float64)))

    def vjp(self, x: Array, w: Array) -> Array:
        """The transposed Jacobian at x times w."""
        self._count(values=0, gradients=1)
        return self._of_model(lambda model: model.vjp(np.array(x, dtype=np.float64), np.array(w, dtype=np.float64)))

    def _of_model(self, call: Callable[[ForwardProblem], Array]) -> Array:
        if self._model is None:
            raise TypeError("this problem has no forward model")
        with self._timed():
            try:
                return call(self._model)
            except NumericalError:
                self.failed += 1
                raise

    def spent_elsewhere(self, gradients: int) -> None:
        """Count values with gradients that a peer has evaluated in code of its own."""
        self.values += gradients
        self.gradients += gradients

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start, processor = perf_counter(), process_time()
        try:
            yield
        finally:
            self.seconds += perf_counter() - start
            self.processor_seconds += process_time() - processor

    def _count(self, *, values: int = 1, gradients: int) -> None:
        if self.units + values + gradients > self.max_units:
            raise BudgetError(f"{self.units} units spent")
        self.values += values
        self.gradients += gradients
