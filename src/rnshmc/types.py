"""Interfaces between the packages: one potential decides, one drives.

A *driver* moves a trajectory and needs only a gradient. A *potential* also has a value, so it can decide in the
Metropolis step. The exact potential does both; a surrogate is a potential used only as a driver; a gradient network is
a driver but not a potential.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

Origin = Literal["real", "simulated", "user", "stand-in", "subset", "published"]
"""Origin of data: a public source, a simulation by design, a user, a simulation that replaces real data, a subset of
the rows of the first two, or a paper's authors, who simulated and published them."""


@runtime_checkable
class Driver(Protocol):
    """The force field on R^dim that moves a trajectory.

    All that drivers and potentials evaluate raises `rnshmc.errors.NumericalError` where it is undefined or not finite;
    a kernel then rejects the proposal.
    """

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""

    def gradient(self, q: Array) -> Array:
        """Gradient at ``q``, both of shape (dim,)."""


@runtime_checkable
class MinibatchDriver(Driver, Protocol):
    """A driver whose gradient can be estimated from a mini-batch of the data (paper B, section 4.4)."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        """Draw ``size`` observations and return the gradient estimated from them, as a function of the position.

        The estimate is unbiased over draws at each position. If not ``scaled``, the likelihood is not scaled up to all
        observations: its expectation has ``size`` of them, plus the prior.
        """


@runtime_checkable
class Resumable(Protocol):
    """An object that changes in place while a chain runs, and that a checkpoint has to store."""

    def snapshot(self) -> dict[str, Any]:
        """All state that has changed since construction: arrays, numbers, strings, and dictionaries of these.

        The arrays may be references: read them before the object changes again. Keys have no dots.
        """

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Restore the state of a snapshot, to the last bit, in an object constructed in the same way."""


@runtime_checkable
class AdaptiveDriver(Driver, Resumable, Protocol):
    """A driver that learns from the chain that it drives (paper A, Algorithm 4)."""

    def update(self, q: Array, u: float) -> None:
        """Learn that U(q) = ``u``, in place. The gradient stays the same until `adopt`."""

    def adopt(self) -> None:
        """Use everything learnt so far in the gradient."""


@runtime_checkable
class Potential(Driver, Protocol):
    """U(q) = -log density, up to a constant (paper A, eq. 2). Exact or surrogate; decides, and may drive."""

    def value(self, q: Array) -> float:
        """U(q)."""

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, at the cost of the gradient."""


@runtime_checkable
class FittedDriver(Driver, Protocol):
    """A driver fitted to values or gradients of the exact potential from an exploration. It need not have a value."""

    def report(self) -> dict[str, int | float | str]:
        """Summary of the fit, ready for JSON."""

    def save(self, path: str | Path) -> None:
        """Write to an npz file; the class's ``load`` reads it."""


@runtime_checkable
class Surrogate(Potential, FittedDriver, Protocol):
    """A potential fitted to values of another one; its report has ``train_residual_sd``."""

    def predict(self, q: Array) -> Array:
        """Potential at each row of ``q``: shapes (m, dim) and (m,)."""


@runtime_checkable
class RiemannianDriver(Driver, Protocol):
    """A driver with a position-dependent metric G(q) and its derivative (paper A, section 2.2)."""

    def metric(self, q: Array) -> Array:
        """G(q), symmetric positive definite: shape (dim, dim), or (dim,) where it is diagonal."""

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', as an array of shape (dim,).

        ``factor`` has shape (dim, r), and the cost is proportional to r: the trace term of the dynamics takes r = dim
        (m = G^-1), the quadratic term r = 1 (m = v v'). No (dim, dim, dim) array is ever formed.
        """


@runtime_checkable
class RiemannianPotential(Potential, RiemannianDriver, Protocol):
    """A potential with a metric, as RMHMC needs."""
