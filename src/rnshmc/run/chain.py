"""The chain loop: apply a kernel n times and keep every draw, statistic and count."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rnshmc.kernels.transition import INFO_DTYPES, TransitionInfo
from rnshmc.run.checkpoint import Checkpoint, Keeper, Stopwatch
from rnshmc.run.counting import Counter
from rnshmc.types import Array

Progress = Callable[[int, int, float], None]
"""Called with (iterations done, total iterations, acceptance rate so far) after each iteration."""

_COUNTS = [field.name for field in fields(Counter)]
STATS_DTYPES: dict[str, type] = {**INFO_DTYPES, **dict.fromkeys(_COUNTS, np.int64), "potential": np.float64}
"""Statistics of each draw: those of its transition, its counts of evaluations, and U at the draw."""


class ChainState(Protocol):
    """The part of a kernel's state that the loop needs; kernels may store other evaluations in it."""

    @property
    def q(self) -> Array:
        """Position."""

    @property
    def potential(self) -> float:
        """U(q)."""


S = TypeVar("S", bound=ChainState)


class Kernel(Protocol[S]):
    """The part of a kernel that the loop needs."""

    def init(self, q: Array) -> S:
        """The state at ``q``."""

    def step(self, rng: np.random.Generator, state: S) -> tuple[S, TransitionInfo]:
        """One transition."""


@dataclass(frozen=True)
class Phase:
    """A finished phase of a chain."""

    draws: Array
    """Positions after each iteration, shape (n, dim)."""
    stats: dict[str, npt.NDArray[Any]]
    """One array of shape (n,) for each name in `STATS_DTYPES`."""
    wall_s: float
    """Elapsed seconds."""
    cpu_s: float
    """Seconds of processor time of this process, all threads together."""

    @property
    def timing(self) -> dict[str, float]:
        """Cost of the phase, stored with the draws."""
        return {"iterations": len(self.draws), "wall_s": self.wall_s, "cpu_s": self.cpu_s}


def run_phase(
    kernel: Kernel[S],
    state: S,
    *,
    iterations: int,
    rng: np.random.Generator,
    counter: Counter,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[S, Phase]:
    """Apply ``kernel`` to ``state`` ``iterations`` times.

    The kernel's potential and driver report to ``counter``, and ``progress`` is called after each iteration. The file
    of the ``checkpoint`` saves the phase while it runs. If it exists, the phase continues from it, with the same draws,
    statistics and counts, and the same final ``rng`` and ``kernel``, as without interruption. Raises `CheckpointError`
    if the checkpoint is damaged, or belongs to another chain.
    """
    draws = np.empty((iterations, state.q.size))
    stats: dict[str, npt.NDArray[Any]] = {
        name: np.empty(iterations, dtype=dtype) for name, dtype in STATS_DTYPES.items()
    }
    done, clock, keeper = 0, Stopwatch(), None
    if checkpoint is not None:
        keeper = Keeper(checkpoint, kernel, start=state.q, rng=rng, draws=draws, stats=stats)
        state, done, clock = keeper.resume(state)
    accepted = int(stats["accepted"][:done].sum())
    before = vars(counter).copy()
    for i in range(done, iterations):
        state, info = kernel.step(rng, state)
        after = vars(counter).copy()
        draws[i] = state.q
        for name, value in zip(info._fields, info, strict=True):
            stats[name][i] = value
        for name in _COUNTS:
            stats[name][i] = after[name] - before[name]
        stats["potential"][i] = state.potential
        before = after
        accepted += info.accepted
        if progress is not None:
            progress(i + 1, iterations, accepted / (i + 1))
        if keeper is not None:
            keeper.keep(state, i + 1, clock)
    return state, Phase(draws, stats, **clock.read())
