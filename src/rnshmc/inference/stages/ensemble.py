"""Affine-invariant ensemble (Goodman and Weare 2010), without gradients, where the surrogate is not good enough."""

from collections.abc import Iterator

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.adapted import Stretch
from rnshmc.inference.stages.correction import Exact
from rnshmc.inference.stages.scattered import Around, scattered_starts
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_chains import Ensemble
from rnshmc.types import Array

STAGE = "ensemble"


def price(dim: int, draws: int, tuning: Ensemble) -> int:
    """Evaluation units that ``draws`` draws take, the warm-up included."""
    blocks = _warm_up(dim, tuning) + _blocks(dim, draws, tuning)
    return _walkers(dim) * (1 + blocks * tuning.block)


def stretch_moves(
    archive: Archive,
    whitening: Whitening,
    around: Around,
    rng: np.random.Generator,
    tuning: Ensemble,
    *,
    draws: int,
) -> Iterator[Stretch]:
    """Blocks of states of the walkers, block by block.

    Each half of the walkers moves at once, along lines through walkers of the other half.

    Parameters
    ----------
    whitening
        Coordinates in which walkers are scattered around the centres.
    around
        Where they begin, in turn.
    draws
        Of all walkers together.

    Raises
    ------
    BudgetSpent
        When the budget ends; blocks before that have been yielded.
    """
    walkers = _walkers(archive.dim)

    def values(z: Array) -> Array:
        found = archive.evaluate(whitening.unwhiten(z), STAGE, gradient=False)
        return np.array([one.value for one in found])

    start = scattered_starts(archive, whitening, around.repeated(walkers), values, rng, spread=1.0, tries=tuning.tries)
    positions, potentials = whitening.unwhiten(start), values(start)
    warm_up = _warm_up(archive.dim, tuning)
    for block in range(warm_up + _blocks(archive.dim, draws, tuning)):
        shape = (walkers, tuning.block)
        states, energies = np.empty((*shape, archive.dim)), np.empty(shape)
        accepted: list[float] = []
        for k in range(tuning.block):
            for half in (slice(0, walkers // 2), slice(walkers // 2, walkers)):
                positions, potentials, acceptance = _moved(archive, positions, potentials, half, rng, tuning.stretch)
                accepted.append(acceptance)
            states[:, k], energies[:, k] = positions, potentials
        yield Stretch(Exact(states, energies, float(np.mean(accepted))), warm_up=block < warm_up)


def _walkers(dim: int) -> int:
    return 2 * max(dim + 1, 8)


def _warm_up(dim: int, tuning: Ensemble) -> int:
    """Blocks that are left out."""
    return tuning.sweeps * dim // tuning.block


def _blocks(dim: int, draws: int, tuning: Ensemble) -> int:
    return max(1, -(-draws // (_walkers(dim) * tuning.block)))


def _moved(
    archive: Archive, positions: Array, potentials: Array, half: slice, rng: np.random.Generator, longest: float
) -> tuple[Array, Array, float]:
    """Positions and potentials after one half of the walkers has moved, and its mean acceptance."""
    moving = np.arange(len(positions))[half]
    others = np.setdiff1d(np.arange(len(positions)), moving)
    partners = positions[rng.choice(others, len(moving))]
    stretch = (1.0 + (longest - 1.0) * rng.uniform(size=len(moving))) ** 2 / longest
    proposals = partners + stretch[:, None] * (positions[moving] - partners)
    found = archive.evaluate(proposals, STAGE, gradient=False)
    values = np.array([one.value for one in found])
    log_ratio = (archive.dim - 1) * np.log(stretch) + potentials[moving] - values
    probability = np.exp(np.minimum(log_ratio, 0.0))
    accepted = rng.uniform(size=len(moving)) < probability
    positions, potentials = positions.copy(), potentials.copy()
    positions[moving[accepted]] = proposals[accepted]
    potentials[moving[accepted]] = values[accepted]
    return positions, potentials, float(probability.mean())
