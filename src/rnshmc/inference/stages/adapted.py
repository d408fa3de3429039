"""HMC on the exact potential, in coordinates whitened by what is known: the way on where a surrogate is no good."""

from collections.abc import Iterator

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.chains import Chains, run_chains
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

STAGE = "adapted HMC"
CHAINS = 4
TARGET_ACCEPTANCE = 0.8
WARM_UP = (60, 60, 80)
"""Transitions of the windows of the warm-up. After all but the last, the coordinates are whitened by the draws."""
BLOCK = 10
TRIES = 20


def adapted_hmc(
    archive: Archive, whitening: Whitening, centres: Array, *, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array, float]]:
    """Blocks of exact draws in x (chains, n, d), their potentials (chains, n), and the mean acceptance in the block.

    Parameters
    ----------
    whitening
        Coordinates to begin with.
    centres
        Where chains begin, in turn, shape (k, d).
    draws
        Of all chains together.

    Raises
    ------
    BudgetSpent
        When the budget ends; blocks before that have been yielded.
    ParameterError
        If no start of finite potential is found.
    """
    start, step = _starts(archive, whitening, centres, rng), 0.5 * archive.dim**-0.25
    for window, transitions in enumerate(WARM_UP):
        chains = run_chains(
            _exact(archive, whitening),
            start,
            transitions=transitions,
            step_size=step,
            rng=rng,
            adapt_to=TARGET_ACCEPTANCE,
        )
        start, step = _end(chains), chains.step_size
        if window < len(WARM_UP) - 1:
            old, whitening = whitening, _by_draws(whitening, chains.draws[:, transitions // 3 :])
            start = _transferred(old, whitening, start)
    for _ in range(0, draws, CHAINS * BLOCK):
        chains = run_chains(_exact(archive, whitening), start, transitions=BLOCK, step_size=step, rng=rng)
        start = _end(chains)
        x = whitening.unwhiten(chains.draws.reshape(-1, archive.dim)).reshape(chains.draws.shape)
        yield x, chains.potentials, chains.acceptance


def _exact(archive: Archive, whitening: Whitening):  # type: ignore[no-untyped-def]
    def potential(z: Array) -> tuple[Array, Array]:
        values, gradients = np.full(len(z), np.inf), np.zeros(z.shape)
        there = np.isfinite(z).all(axis=1)
        found = archive.evaluate(whitening.unwhiten(z[there]), STAGE)
        for row, one in zip(np.flatnonzero(there), found, strict=True):
            if one.gradient is not None:
                values[row], gradients[row] = one.value, whitening.slopes(one.gradient[None])[0]
        return values, gradients

    return potential


def _starts(
    archive: Archive, whitening: Whitening, centres: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    potential = _exact(archive, whitening)
    z = whitening.whiten(centres[np.arange(CHAINS) % len(centres)])
    spread = 0.5
    start = z + spread * rng.standard_normal(z.shape)
    for _ in range(TRIES):
        values, gradients = potential(start)
        bad = ~np.isfinite(values)
        if not bad.any():
            return start, values, gradients
        spread *= 0.5
        start[bad] = z[bad] + spread * rng.standard_normal(z[bad].shape)
    raise ParameterError("start: no finite potential found around the mode; start elsewhere")


def _end(chains: Chains) -> tuple[Array, Array, Array]:
    return chains.draws[:, -1], chains.potentials[:, -1], chains.last_gradients


def _by_draws(whitening: Whitening, draws: Array) -> Whitening:
    """Whitened by the covariance within chains, shrunk towards what it was as d draws weigh."""
    n, dim = draws.shape[0] * draws.shape[1], draws.shape[2]
    centred = (draws - draws.mean(axis=1, keepdims=True)).reshape(-1, dim)
    covariance = (centred.T @ centred + 5.0 * dim * np.eye(dim)) / (n + 5.0 * dim)
    variances, directions = np.linalg.eigh(covariance)
    return whitening.curved(1.0 / variances, directions)


def _transferred(old: Whitening, new: Whitening, start: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The same positions, potentials and gradients in other coordinates."""
    positions, potentials, slopes = start
    return new.whiten(old.unwhiten(positions)), potentials, new.slopes(slopes @ old.factor.T)
