"""The training set of a gradient network: every exact gradient along the trajectories (paper B, section 3).

A trajectory of L steps yields one potential at its end, but L gradients. They are recorded when evaluated, without
extra cost or effect on the chain.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Self

import numpy as np
import numpy.typing as npt

from rnshmc.errors import FitError
from rnshmc.kernels.transition import TransitionInfo
from rnshmc.run.chain import Kernel, S
from rnshmc.surrogates.storage import Stored
from rnshmc.types import Array, Potential


@dataclass(frozen=True, eq=False)
class GradientPairs(Stored):
    """Positions and exact gradients there, in the order of their evaluation."""

    q: Array
    """Positions, shape (n, dim)."""
    gradients: Array
    """Gradients, shape (n, dim)."""
    iterations: Array
    """The iteration in which each was evaluated, counted from 0, shape (n,)."""

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.iterations)

    def between(self, start: int, end: int) -> Self:
        """The pairs of the iterations start, ..., end - 1."""
        return self._chosen((start <= self.iterations) & (self.iterations < end))

    def of_sound_trajectories(self, stats: Mapping[str, Array]) -> Self:
        """The pairs of iterations whose trajectory neither diverged nor failed on its way.

        Where leapfrog is unstable, gradients grow by tens of orders of magnitude within a few steps, until the
        potential cannot be evaluated. On the scale of these, all other gradients are indistinguishable to a network.
        ``stats`` has ``diverging`` and ``solver_failed`` of each iteration from the first on, recorded or not. Raises
        `FitError` if no pairs are left: there is nothing to train on.
        """
        unsound = (stats["diverging"] + stats["solver_failed"]) > 0
        kept = self._chosen(~unsound[self.iterations.astype(int)])
        if not len(kept):
            raise FitError(
                f"no gradients to train on: all {len(self)} recorded are from trajectories that diverged or failed; "
                "try a smaller step size"
            )
        return kept

    def _chosen(self, chosen: npt.NDArray[np.bool_]) -> Self:
        return type(self)(self.q[chosen], self.gradients[chosen], self.iterations[chosen])


class GradientRecording:
    """Positions and exact gradients, recorded while a chain runs.

    Iterations before ``start``, until the chain has converged, are not recorded.
    """

    def __init__(self, dim: int, *, start: int = 0) -> None:
        self.start = start
        self._dim = dim
        self._iteration = 0
        self._open = False
        # An iteration, a position and its gradient.
        self._rows: list[Array] = []

    def pairs(self) -> GradientPairs:
        """All that has been recorded so far."""
        iterations, q, gradients = np.split(self._table(), [1, 1 + self._dim], axis=1)
        return GradientPairs(q, gradients, iterations[:, 0])

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """Record within one iteration of the chain; nothing is recorded outside of one."""
        self._open = self._iteration >= self.start
        try:
            yield
        finally:
            self._open = False
            self._iteration += 1

    def add(self, q: Array, gradient: Array) -> None:
        """Record a pair, unless the gradient is not finite."""
        if self._open and np.isfinite(gradient).all():
            self._rows.append(np.concatenate(([self._iteration], q, gradient)))

    def snapshot(self) -> dict[str, Any]:
        """All that has been recorded."""
        return {"iteration": self._iteration, "rows": self._table()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot of such a recording."""
        self._iteration = snapshot["iteration"]
        self._rows = list(snapshot["rows"])

    def _table(self) -> Array:
        return np.reshape(self._rows, (len(self._rows), 1 + 2 * self._dim))


class RecordedPotential:
    """An exact potential whose gradients are recorded."""

    def __init__(self, potential: Potential, recording: GradientRecording) -> None:
        self.dim = potential.dim
        self._potential, self._recording = potential, recording

    def value(self, q: Array) -> float:
        """U(q)."""
        return self._potential.value(q)

    def gradient(self, q: Array) -> Array:
        """Record and return the gradient of U at ``q``."""
        gradient = self._potential.gradient(q)
        self._recording.add(q, gradient)
        return gradient

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, after recording the gradient."""
        value, gradient = self._potential.value_and_grad(q)
        self._recording.add(q, gradient)
        return value, gradient


class RecordedKernel(Generic[S]):
    """A kernel with a `RecordedPotential` that reports iterations to the recording, and saves it in checkpoints.

    The kernel itself has no other state: exploration is exact HMC.
    """

    def __init__(self, kernel: Kernel[S], recording: GradientRecording) -> None:
        self._kernel, self._recording = kernel, recording
        self.snapshot, self.restore = recording.snapshot, recording.restore

    def init(self, q: Array) -> S:
        """The state at ``q``; its gradient belongs to no iteration and is not recorded."""
        return self._kernel.init(q)

    def step(self, rng: np.random.Generator, state: S) -> tuple[S, TransitionInfo]:
        """One transition."""
        with self._recording.iteration():
            return self._kernel.step(rng, state)
