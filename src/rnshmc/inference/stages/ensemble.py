"""Affine-invariant ensemble (Goodman and Weare 2010): the way on without gradients and without a surrogate."""

from collections.abc import Iterator

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

STAGE = "ensemble"
STRETCH = 2.0
TRIES = 20
BLOCK = 10


def stretch_moves(
    archive: Archive, whitening: Whitening, centres: Array, *, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array, float]]:
    """Blocks of states of the walkers in x (walkers, n, d), their potentials (walkers, n), and the acceptance.

    Each half of the walkers moves at once, along lines through walkers of the other half. The first 20 d sweeps are
    left out.

    Parameters
    ----------
    whitening
        Sets how far from the centres walkers begin.
    centres
        Where they begin, in turn, shape (k, d).
    draws
        Of all walkers together.

    Raises
    ------
    BudgetSpent
        When the budget ends; blocks before that have been yielded.
    ParameterError
        If no start of finite potential is found.
    """
    dim = archive.dim
    walkers = 2 * max(dim + 1, 8)
    positions, potentials = _starts(archive, whitening, centres, walkers, rng)
    warm_up = 20 * dim // BLOCK
    for block in range(warm_up + max(1, -(-draws // (walkers * BLOCK)))):
        states, energies = np.empty((walkers, BLOCK, dim)), np.empty((walkers, BLOCK))
        accepted: list[float] = []
        for k in range(BLOCK):
            halves = (slice(0, walkers // 2), slice(walkers // 2, walkers))
            accepted += [_move(archive, positions, potentials, half, rng) for half in halves]
            states[:, k], energies[:, k] = positions, potentials
        if block >= warm_up:
            yield states, energies, float(np.mean(accepted))


def _move(archive: Archive, positions: Array, potentials: Array, half: slice, rng: np.random.Generator) -> float:
    """Move one half of the walkers in place; their mean acceptance."""
    moving = np.arange(len(positions))[half]
    others = np.setdiff1d(np.arange(len(positions)), moving)
    partners = positions[rng.choice(others, len(moving))]
    stretch = (1.0 + (STRETCH - 1.0) * rng.uniform(size=len(moving))) ** 2 / STRETCH
    proposals = partners + stretch[:, None] * (positions[moving] - partners)
    found = archive.evaluate(proposals, STAGE, gradient=False)
    values = np.array([one.value for one in found])
    log_ratio = (archive.dim - 1) * np.log(stretch) + potentials[moving] - values
    probability = np.exp(np.minimum(log_ratio, 0.0))
    accepted = rng.uniform(size=len(moving)) < probability
    positions[moving[accepted]] = proposals[accepted]
    potentials[moving[accepted]] = values[accepted]
    return float(probability.mean())


def _starts(
    archive: Archive, whitening: Whitening, centres: Array, walkers: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    z = whitening.whiten(centres[np.arange(walkers) % len(centres)])
    positions = whitening.unwhiten(z + rng.standard_normal(z.shape))
    potentials = np.full(walkers, np.inf)
    for attempt in range(TRIES):
        bad = ~np.isfinite(potentials)
        if not bad.any():
            return positions, potentials
        shrunk = z[bad] + 0.7**attempt * rng.standard_normal(z[bad].shape)
        positions[bad] = whitening.unwhiten(shrunk)
        potentials[bad] = [one.value for one in archive.evaluate(positions[bad], STAGE, gradient=False)]
    raise ParameterError("start: no finite potential found around the mode; start elsewhere")
