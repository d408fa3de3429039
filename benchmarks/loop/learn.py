"""The loop: draws of the surrogate are evaluated, check the surrogate that they are of, and teach the next one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from loop.batches import Batch, evaluated
from loop.cloud import Cloud, balanced
from loop.posterior import SurrogatePosterior, draw_tempered, fit_posterior, within_reach
from loop.tuning import LEARNING, Learning

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.final_checks import outlying
from rnshmc.inference.surrogate.weights import weight_variance
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array

RECENT = 3
"""Batches whose residuals calibrate the variance of the process."""
CHANGES = (-3.0, 3.0)
"""Changes of V beyond which they are clipped: no single one must decide an error."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """A surrogate, draws of it, and what its predictions of evaluations were worth.

    Attributes
    ----------
    posterior
        The surrogate.
    positions
        Last whitened draws of the chains at each temperature, (temperatures, chains, d).
    pools
        Whitened draws at each temperature, (temperatures, chains, n, d).
    cloud
        The draws in x with their weights and the law of the error.
    batches
        All batches, the latest last.
    earlier
        Earlier surrogates, the latest last.
    searched
        Number of training points when the covariance was searched.
    outlying
        Part of a variance that draws lack far out, see `rnshmc.inference.final_checks`.
    good
        Whether its moments are known well enough; False while learning continues.
    """

    posterior: SurrogatePosterior
    positions: Array
    pools: Array
    cloud: Cloud
    batches: tuple[Batch, ...]
    earlier: tuple[SurrogatePosterior, ...]
    searched: int
    outlying: float = 0.0
    good: bool = False

    @property
    def draws(self) -> Array:
        """Draws of the surrogate in x, (chains, n, d)."""
        return _unwhitened(self.posterior.whitening, self.pools[0])

    @property
    def tried(self) -> int:
        """Number of points that were evaluated."""
        return sum(len(batch.values) for batch in self.batches)

    @property
    def variance(self) -> float:
        """Variance of the importance weights at the last draws, before they were learnt; inf before any."""
        if not self.batches:
            return np.inf
        return weight_variance(self.batches[-1].of_surrogate)

    @property
    def recent(self) -> Array:
        """U - V at draws of the last surrogates, before they were learnt: as many as calibrate the process."""
        return np.concatenate([np.zeros(0), *(batch.of_surrogate for batch in self.batches[-RECENT:])])


def learn(
    archive: Archive, whitening: Whitening, rng: np.random.Generator, tuning: Tuning, *, aim: float
) -> Iterator[Learnt]:
    """The surrogate after each batch, until moments are known well enough, or more points do not help.

    Raises
    ------
    FitError
        If no surrogate can be fitted.
    """
    own = LEARNING
    state = _begun(archive, whitening, rng, tuning)
    while not _exhausted(archive, state):
        yield state
        if _enough(state, aim, own):
            state = _looked_out(archive, state, rng, tuning)
            if state.outlying <= own.lacking:
                break
            state = _refitted(archive, state, rng, tuning, search=True)
        else:
            state = _taught(archive, state, rng, tuning)
    good = _enough(state, aim, own)
    yield replace(_drawn(archive, state, rng, kept=own.last), good=good)


def _looked_out(archive: Archive, state: Learnt, rng: np.random.Generator, tuning: Tuning) -> Learnt:
    """With what exact values beyond all draws show."""
    recent = state.batches[-RECENT:]
    points = np.concatenate([batch.points[~batch.tempered] for batch in recent])
    values = np.concatenate([batch.values[~batch.tempered] for batch in recent])
    draws = state.draws.reshape(-1, archive.dim)
    return replace(state, outlying=outlying(archive, draws, (points, values), rng, tuning, chains=False))


def _enough(state: Learnt, aim: float, tuning: Learning) -> bool:
    """Whether means and variances have the errors of ``aim`` independent draws."""
    return len(state.batches) >= tuning.least and aim * state.cloud.largest_error**2 <= 1.0


def _begun(archive: Archive, whitening: Whitening, rng: np.random.Generator, tuning: Tuning) -> Learnt:
    own, dim = LEARNING, archive.dim
    posterior = fit_posterior(archive.training(), whitening, rng, tuning.fitting)
    temperatures = np.array(own.temperatures(dim))
    start = 0.7 * rng.standard_normal((len(temperatures), own.chains, dim))
    nothing = np.zeros((len(temperatures), 0, 0, dim))
    empty = Cloud(
        np.zeros((0, dim)), np.zeros(0), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 0)), np.zeros((0, 0))
    )
    state = Learnt(posterior, start, nothing, empty, (), (), posterior.kernel.points)
    return _drawn(archive, state, rng)


def _taught(archive: Archive, state: Learnt, rng: np.random.Generator, tuning: Tuning) -> Learnt:
    """Evaluate a batch, and learn it."""
    own = LEARNING
    known = len(state.batches) > 0
    batch = evaluated(archive, state.posterior, state.pools, state.cloud, rng, own, opened=known)
    archive.note_error(float(np.sqrt(weight_variance(batch.of_surrogate))))
    whitening = _whitening(state, batch, own)
    taught = replace(state, batches=(*state.batches, batch))
    return _refitted(archive, taught, rng, tuning, whitening=whitening)


def _refitted(
    archive: Archive,
    state: Learnt,
    rng: np.random.Generator,
    tuning: Tuning,
    *,
    whitening: Whitening | None = None,
    search: bool = False,
) -> Learnt:
    """With a surrogate of all that is evaluated, in its coordinates or others, and draws of it."""
    own, old, training = LEARNING, state.posterior.whitening, archive.training()
    whitening = whitening or old
    count = len(within_reach(training, old, tuning.fitting).values)
    search = search or count > own.stale * state.searched or whitening is not old
    state = replace(
        state,
        posterior=fit_posterior(training, whitening, rng, tuning.fitting, like=state.posterior.kernel, search=search),
        positions=np.array([whitening.whiten(old.unwhiten(some)) for some in state.positions]),
        earlier=(*state.earlier, state.posterior)[-own.shifts :],
        searched=count if search else state.searched,
    )
    return _drawn(archive, state, rng)


def _whitening(state: Learnt, batch: Batch, tuning: Learning) -> Whitening:
    """Coordinates whitened by the draws, where these are far from white and the surrogate is not far off."""
    old = state.posterior.whitening
    variance = weight_variance(batch.of_surrogate)
    rows = state.pools[0].reshape(-1, len(old.centre))
    variances, directions = np.linalg.eigh(np.cov(rows.T).reshape(len(old.centre), len(old.centre)))
    low, high = tuning.unchanged
    if not variance < tuning.far or (low < variances[0] and variances[-1] < high):
        return old
    moved = old.moved(old.unwhiten(rows.mean(axis=0)[None])[0])
    return moved.curved(1.0 / variances, directions)


def _drawn(archive: Archive, state: Learnt, rng: np.random.Generator, *, kept: int | None = None) -> Learnt:
    """With draws of the surrogate at all temperatures, and the law of its error."""
    own, posterior, dim = LEARNING, state.posterior, archive.dim
    kept = kept or own.kept
    temperatures = np.array(own.temperatures(dim))
    pools, potentials = draw_tempered(posterior, state.positions, temperatures, settle=own.settle, kept=kept, rng=rng)
    size = own.chains * kept
    weights = balanced(potentials.ravel(), 1.0 / temperatures, np.full(len(temperatures), size))
    rows = pools.reshape(-1, dim)
    chains = np.repeat(np.arange(len(temperatures) * own.chains), kept)
    each = own.members // (2 * (len(temperatures) - 1))
    members = np.concatenate(
        [
            t * size + rng.choice(size, min(size, each * (1 if t else len(temperatures) - 1)), replace=False)
            for t in range(len(temperatures))
        ]
    )
    deviations, changes = _deviations(state, rows[members], members >= size)
    every = posterior.whitening.unwhiten(rows)
    cloud = Cloud(every, weights, chains, members, deviations, changes)
    return replace(state, positions=pools[:, :, -1].copy(), pools=pools, cloud=cloud)


def _deviations(state: Learnt, z: Array, tempered: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Deviations (m, k) of the density at whitened points, some of them tempered draws, and changes (m, c).

    By the process, its variance as large as recent residuals of draws, or of tempered draws, need; and by what the last
    batches changed.
    """
    recent = state.batches[-RECENT:]
    factors = np.ones(2)
    for hot in (0, 1):
        seen = [batch.standardised[batch.tempered == bool(hot)] for batch in recent]
        residuals = np.concatenate([np.zeros(0), *seen])
        if np.isfinite(residuals).any():
            factors[hot] = max(1.0, float(np.nanmean(residuals**2)))
    variances, directions = np.linalg.eigh(state.posterior.covariance(z))
    of_process = directions * np.sqrt(np.maximum(variances, 0.0)) * np.sqrt(factors[tempered.astype(int)])[:, None]
    x = state.posterior.whitening.unwhiten(z)
    every = [posterior.values(x) for posterior in (*state.earlier, state.posterior)]
    changes = [after - before for before, after in pairwise(every)]
    columns = [np.expm1(np.clip(change - np.median(change), *CHANGES)) for change in changes]
    return of_process, np.column_stack((np.zeros((len(z), 0)), *columns))


def _unwhitened(whitening: Whitening, chains: Array) -> Array:
    return whitening.unwhiten(chains.reshape(-1, chains.shape[-1])).reshape(chains.shape)


def _exhausted(archive: Archive, state: Learnt) -> bool:
    """Whether there are as many points as there may be, or the surrogate is far off after many."""
    own = LEARNING
    hopeless = state.tried >= own.hopeless * (archive.dim + 20) and not state.variance < own.far
    return state.tried >= own.most_points or hopeless
