"""Starts of exact chains, scattered around modes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Around:
    """Where chains begin, in turn.

    Attributes
    ----------
    centres
        Shape (k, d).
    highest
        Potentials above which no chain around each centre begins, shape (k,): where the posterior is steep, a chain
        far above it moves only by steps that are too short for all others.
    """

    centres: Array
    highest: Array

    @classmethod
    def modes(cls, modes: tuple[Mode, ...], height: float) -> "Around":
        """Around modes, at most so much above each."""
        return cls(
            np.array([mode.whitening.centre for mode in modes]), np.array([mode.value + height for mode in modes])
        )

    def repeated(self, count: int) -> "Around":
        """With a centre for each of so many chains."""
        each = np.arange(count) % len(self.centres)
        return Around(self.centres[each], self.highest[each])


def scattered_starts(
    archive: Archive,
    whitening: Whitening,
    around: Around,
    values: Callable[[Array], Array],
    rng: np.random.Generator,
    *,
    spread: float,
    tries: int,
) -> Array:
    """Whitened positions of plausible potentials, shape (m, d), scattered around as many centres.

    A position of an infinite potential, or of one that is too high, is drawn again, nearer to its centre. Where that
    does not help, as beside a wall, the chain starts at a point whose potential is known: one of the lowest.

    Parameters
    ----------
    around
        The centre of each, in x.
    values
        Exact potentials (k,) at whitened positions (k, d).
    spread
        Whitened standard deviation of the first positions.
    tries
        Positions drawn for each chain, at most.
    """
    centres = whitening.whiten(around.centres)
    start = centres + spread * rng.standard_normal(centres.shape)
    bad = ~(values(start) <= around.highest)
    for _ in range(tries):
        if not bad.any():
            return start
        spread *= 0.5
        start[bad] = centres[bad] + spread * rng.standard_normal(centres[bad].shape)
        bad[bad] = ~(values(start[bad]) <= around.highest[bad])
    known = archive.training()
    usable = np.isfinite(known.gradients).all(axis=1) if archive.has_gradient else np.isfinite(known.values)
    lowest = np.argsort(np.where(usable, known.values, np.inf), kind="stable")[: np.count_nonzero(usable)]
    chosen = lowest[np.arange(np.count_nonzero(bad)) % len(lowest)]
    start[bad] = whitening.whiten(known.points[chosen])
    return start
