"""Starts of exact chains, scattered around modes."""

from collections.abc import Callable

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array


def scattered_starts(
    archive: Archive,
    whitening: Whitening,
    centres: Array,
    values: Callable[[Array], Array],
    rng: np.random.Generator,
    *,
    spread: float,
    tries: int,
) -> Array:
    """Whitened positions of finite potential, shape (m, d), scattered around whitened centres (m, d).

    A position of infinite potential is drawn again, nearer to its centre. Where that does not help, as beside a wall,
    the chain starts at a point whose potential is known: one of the lowest.

    Parameters
    ----------
    values
        Exact potentials (k,) at whitened positions (k, d).
    spread
        Whitened standard deviation of the first positions.
    tries
        Positions drawn for each chain, at most.
    """
    start = centres + spread * rng.standard_normal(centres.shape)
    bad = ~np.isfinite(values(start))
    for _ in range(tries):
        if not bad.any():
            return start
        spread *= 0.5
        start[bad] = centres[bad] + spread * rng.standard_normal(centres[bad].shape)
        bad[bad] = ~np.isfinite(values(start[bad]))
    known = archive.training()
    usable = np.isfinite(known.gradients).all(axis=1) if archive.has_gradient else np.isfinite(known.values)
    lowest = np.argsort(np.where(usable, known.values, np.inf), kind="stable")[: np.count_nonzero(usable)]
    chosen = lowest[np.arange(np.count_nonzero(bad)) % len(lowest)]
    start[bad] = whitening.whiten(known.points[chosen])
    return start
