"""The interfaces that the parts agree on: one potential decides, one drives.

A *driver* moves a trajectory; all it needs is a gradient. A *potential* also has a value, so it can decide in the
Metropolis step. The exact potential is both; a surrogate is a potential that is used as a driver only; a gradient
network is a driver and no potential.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

Origin = Literal["real", "simulated", "user", "stand-in", "subset", "published"]
"""Where data came from: a public source, a simulation by design, a user, a simulation instead of real data, some of
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
        ...

    def gradient(self, q: Array) -> Array:
        """Gradient at ``q``, both of shape (dim,)."""
        ...


@runtime_checkable
class MinibatchDriver(Driver, Protocol):
    """A driver whose gradient can be estimated from a part of the data (paper B, section 4.4)."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        """The gradient estimated from ``size`` observations that are drawn now.

        Its expectation over the draw is the gradient, at each position. For each draw it is a function of the position.
        If not ``scaled``, the observations stand for themselves only: the expectation has ``size`` of them in place of
        all, beside the prior.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """Something that changes in place while a chain runs, and that a checkpoint has to keep."""

    def snapshot(self) -> dict[str, Any]:
        """All that has changed since it was made: arrays, numbers, strings, and dictionaries of these.

        The arrays may be its own, for the caller to read before anything changes again. Keys have no dots.
        """
        ...

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Become, to the last bit, what the object was that the snapshot is of; it was made as this one was."""
        ...


@runtime_checkable
class AdaptiveDriver(Driver, Resumable, Protocol):
    """A driver that learns from the chain that it drives (paper A, Algorithm 4)."""

    def update(self, q: Array, u: float) -> None:
        """Learn that U(q) = ``u``, in place. The gradient stays what it was until `adopt`."""
        ...

    def adopt(self) -> None:
        """Drive by all that was learnt, from now on."""
        ...


@runtime_checkable
class Potential(Driver, Protocol):
    """U(q) = -log density, up to a constant (paper A, eq. 2). Exact or surrogate; decides, and may drive."""

    def value(self, q: Array) -> float:
        """U(q)."""
        ...

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, at the price of the gradient."""
        ...


@runtime_checkable
class FittedDriver(Driver, Protocol):
    """A driver that was fitted to what an exploration saw of the exact potential. It need not have a value."""

    def report(self) -> dict[str, int | float | str]:
        """Summary of the fit, ready for JSON."""
        ...

    def save(self, path: str | Path) -> None:
        """Write to an npz file; the class's ``load`` reads it."""
        ...


@runtime_checkable
class Surrogate(Potential, FittedDriver, Protocol):
    """A potential that was fitted to values of another one; ``train_residual_sd`` is in its report."""

    def predict(self, q: Array) -> Array:
        """Potentials at the rows of ``q`` of shape (m, dim), as an array of shape (m,)."""
        ...


@runtime_checkable
class RiemannianDriver(Driver, Protocol):
    """A driver that also bends the space it moves through: a metric G(q) and its derivative (paper A, section 2.2)."""

    def metric(self, q: Array) -> Array:
        """G(q), symmetric positive definite: shape (dim, dim), or (dim,) where it is diagonal."""
        ...

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', as an array of shape (dim,).

        ``factor`` has shape (dim, r), and the price is proportional to r: the trace term of the dynamics takes
        r = dim (m = G^-1), the quadratic term r = 1 (m = v v'). No (dim, dim, dim) array is ever formed.
        """
        ...


@runtime_checkable
class RiemannianPotential(Potential, RiemannianDriver, Protocol):
    """A potential with a metric: what RMHMC runs on."""
