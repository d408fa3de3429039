"""The exact potential behind one wrapper: evaluations and seconds of every call, whichever peer makes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

import numpy as np

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
    """

    def __init__(self, potential: Potential, max_units: int) -> None:
        self._potential = potential
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

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start, processor = perf_counter(), process_time()
        try:
            yield
        finally:
            self.seconds += perf_counter() - start
            self.processor_seconds += process_time() - processor

    def _count(self, *, gradients: int) -> None:
        if self.units + 1 + gradients > self.max_units:
            raise BudgetError(f"{self.units} units spent")
        self.values += 1
        self.gradients += gradients
