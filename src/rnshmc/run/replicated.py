"""A chain run jointly by several MPI ranks, each with the whole state.

The ranks share the evaluation of the potential: a solve on a partitioned mesh, or a likelihood with distributed rows.
Everything else is done by each rank, with the same random stream. The results of rank 0 are used for every evaluation
and every transition, so that rounding cannot make one rank accept a proposal that another rejects. Positions that
differ by more than rounding are an error.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from rnshmc.errors import NumericalError, RnshmcError
from rnshmc.kernels.transition import TransitionInfo
from rnshmc.run.chain import Kernel, S
from rnshmc.run.counting import Counter
from rnshmc.run.phases import make_kernel
from rnshmc.types import Array, Driver, Potential, RiemannianPotential

ROUNDING = 1e-9
"""Maximum distance of a rank's position from rank 0's, relative to the largest coordinate (at least 1)."""

T = TypeVar("T")
P = TypeVar("P", bound=Potential)


class ReplicatedPotential(Generic[P]):
    """A potential that all ranks evaluate at rank 0's position, with rank 0's result.

    All ranks evaluate it together, or each alone with the same result. Every call is collective.
    """

    def __init__(self, potential: P, comm: Any) -> None:
        self.dim = potential.dim
        self._potential, self._comm = potential, comm

    def value(self, q: Array) -> float:
        """U(q). Raises `RnshmcError` on every rank if the positions of two ranks differ."""
        return self._led(q, self._potential.value)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q. Raises as `value`."""
        return self._led(q, self._potential.gradient)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient. Raises as `value`."""
        return self._led(q, self._potential.value_and_grad)

    def _led(self, q: Array, evaluate: Callable[[Array], T]) -> T:
        """Rank 0's result at its position, evaluated by all ranks."""
        q = _same_position(self._comm, q)
        outcome: T | NumericalError
        try:
            outcome = evaluate(q)
        except NumericalError as error:
            outcome = error
        outcome = self._comm.bcast(outcome)
        if isinstance(outcome, NumericalError):
            raise outcome
        return outcome


class ReplicatedRiemannianPotential(ReplicatedPotential[RiemannianPotential]):
    """A potential with a metric that all ranks evaluate at rank 0's position, with rank 0's result."""

    def metric(self, q: Array) -> Array:
        """G(q). Raises as `value`."""
        return self._led(q, self._potential.metric)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """Contraction of the metric's derivative. Raises as `value`."""
        return self._led(q, lambda position: self._potential.metric_vjp(position, self._comm.bcast(factor)))


class ReplicatedKernel(Generic[S]):
    """A kernel whose every transition is rank 0's: its state, and whether it was accepted, are broadcast."""

    def __init__(self, kernel: Kernel[S], comm: Any) -> None:
        self._kernel = kernel
        self._comm = comm

    def init(self, q: Array) -> S:
        """The state at q. Raises `RnshmcError` on every rank if the positions of two ranks differ."""
        state: S = self._comm.bcast(self._kernel.init(_same_position(self._comm, q)))
        return state

    def step(self, rng: np.random.Generator, state: S) -> tuple[S, TransitionInfo]:
        """One transition, from a random stream that is the same on every rank. Collective."""
        outcome: tuple[S, TransitionInfo] = self._comm.bcast(self._kernel.step(rng, state))
        return outcome


def replicate(potential: Potential, comm: Any) -> Potential:
    """A potential for a chain that the ranks of ``comm`` run together, with a metric if it has one."""
    if isinstance(potential, RiemannianPotential):
        return ReplicatedRiemannianPotential(potential, comm)
    return ReplicatedPotential(potential, comm)


def make_replicated_kernel(
    potential: Potential, driver: Driver | None, comm: Any, **settings: Any
) -> tuple[Kernel[Any], Counter]:
    """The kernel of a recipe for a chain that the ranks of ``comm`` run together, and the counter of this rank.

    Parameters and errors are those of `rnshmc.run.phases.make_kernel`. Every rank has the whole driver, a surrogate.
    """
    kernel, counter = make_kernel(replicate(potential, comm), driver, **settings)
    return ReplicatedKernel(kernel, comm), counter


def _same_position(comm: Any, q: Array) -> Array:
    """Rank 0's position. Raises `RnshmcError` on every rank if one has another."""
    leading: Array = comm.bcast(q)
    finite = np.isfinite(leading)  # The potential reports a position that is not finite.
    distance = float(np.abs(q[finite] - leading[finite]).max(initial=0.0))
    within = distance <= ROUNDING * np.abs(leading[finite]).max(initial=1.0)
    distances = comm.allgather(None if within else distance)
    for rank, apart in enumerate(distances):
        if apart is not None:
            raise RnshmcError(
                f"rank {rank}: its position is {apart:.3g} away from that of rank 0; all ranks need the same start and "
                "the same random stream"
            )
    return leading
