"""Batches of exact evaluations at draws of the surrogate, until the surrogate is good enough."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.archive import Archive
from rnshmc.inference.chains import run_chains
from rnshmc.inference.posterior import MOST_ROWS, SurrogatePosterior, fit_posterior, within_reach
from rnshmc.inference.whitening import Whitening, improved
from rnshmc.types import Array

STAGE = "training"
CHAINS = 128
TRANSITIONS = 25
FIRST_BATCH = 8
MOST_POINTS = 500
STALE = 1.3
"""Length and noise are searched again when there are this many times the points of the last search."""
WORTH = 1.3
"""Training goes on while the exact values that corrections need are more than this many times the training points.

Where sd(U - V) falls as n^-0.75, the sum of both is least at 4/3.
"""
SHOULDERS = 4
"""One point from the shoulders of the posterior for this many of its draws."""
SHRUNK = 0.5
"""Share of the values that corrections need when they are shrunk (`rnshmc.inference.outcome.Surrogate.mean`)."""
CAP = 4.0
"""The most that a variance of weights counts in an average of two."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A surrogate posterior with what is known of it.

    Attributes
    ----------
    posterior
        Fitted to all points within reach.
    positions
        Where its chains are now, whitened, (chains, d).
    variance
        Of the importance weights at the last batch of draws, before they became training points; inf before any.
    good
        Whether it is accurate enough to draw with.
    """

    posterior: SurrogatePosterior
    positions: Array
    variance: float
    good: bool


def train(archive: Archive, whitening: Whitening, *, aim: float, rng: np.random.Generator) -> Trained:
    """Fit, draw, evaluate at draws, and again, until corrections to a precision of ``aim`` draws cost less than that.

    Raises
    ------
    FitError
        If no surrogate can be fitted.
    """
    state = _first(archive, whitening, rng)
    searched = len(state.posterior.kernel.centres)
    variance, before, tried = np.inf, np.inf, 0
    while True:
        used = len(state.posterior.kernel.centres)
        if SHRUNK * aim * variance <= WORTH * used:
            return Trained(state.posterior, state.positions, variance, good=True)
        if max(used, tried) >= MOST_POINTS or used * (archive.dim + 1) + MOST_ROWS // 20 > MOST_ROWS:
            return Trained(state.posterior, state.positions, variance, good=variance < 1.0)
        batch = FIRST_BATCH if not np.isfinite(variance) else max(FIRST_BATCH, archive.dim // 4, used // 8)
        z = state.positions[rng.choice(CHAINS, min(batch, CHAINS), replace=False)]
        x = state.posterior.whitening.unwhiten(np.concatenate((z, _shoulders(state, batch // SHOULDERS, rng))))
        everything = archive.evaluate(x, STAGE)
        found = everything[: len(z)]
        tried += len(everything)
        differences = np.array([one.value for one in found]) - state.posterior.values(x[: len(z)])
        latest = weight_variance(differences[[one.failure is None for one in found]])
        # A few draws say little: two batches together, unless the first is far below what would be good enough.
        known = min(before, CAP) if 4.0 * SHRUNK * aim * latest > WORTH * used else latest
        variance, before = 0.5 * (latest + known), latest
        archive.surrogate_error = float(np.sqrt(variance))
        again = len(within_reach(archive.training(), state.posterior.whitening).values) > STALE * searched
        state = _next(archive, state, rng, search=again)
        searched = len(state.posterior.kernel.centres) if again else searched


def weight_variance(differences: Array) -> float:
    """Variance of the weights exp(V - U) over their squared mean, from a few U - V; robust to a single large weight.

    inf where no difference is finite.
    """
    finite = differences[np.isfinite(differences)]
    if len(finite) < 2:
        return np.inf
    weights = np.exp(np.clip(np.median(finite) - differences, -50.0, 3.0))
    return float(((weights - 1.0) ** 2).sum() / (len(weights) - 1))


@dataclass(frozen=True, eq=False)
class _State:
    posterior: SurrogatePosterior
    positions: Array


def _first(archive: Archive, whitening: Whitening, rng: np.random.Generator) -> _State:
    posterior = fit_posterior(archive.training(), whitening, rng)
    positions = 0.7 * rng.standard_normal((CHAINS, archive.dim))
    return _rewhitened(archive, _State(posterior, positions), rng)


def _next(archive: Archive, state: _State, rng: np.random.Generator, *, search: bool) -> _State:
    like = None if search else state.posterior.kernel
    posterior = fit_posterior(archive.training(), state.posterior.whitening, rng, like=like)
    return _rewhitened(archive, _State(posterior, state.positions), rng)


def _rewhitened(archive: Archive, state: _State, rng: np.random.Generator) -> _State:
    """Draws of a surrogate, and the surrogate fitted anew in coordinates whitened by them, if that changes them."""
    draws = _draw(state, rng)
    posterior = state.posterior
    pool = draws[:, TRANSITIONS // 2 :].reshape(-1, archive.dim)
    hessian = posterior.kernel.mean_hessian(pool[::5])
    spread = np.cov(pool.T).reshape(archive.dim, archive.dim)
    # For a normal density the two are inverses; a bent one is narrower wherever it is than it is on the whole.
    if np.trace(hessian @ spread) > 2.0 * archive.dim:
        hessian = np.linalg.inv(spread)
    curvatures = np.linalg.eigvalsh(hessian)
    if curvatures[0] > 0.8 and curvatures[-1] < 1.25 and np.linalg.norm(pool.mean(axis=0)) < 0.3:
        return _State(posterior, draws[:, -1])
    old = posterior.whitening
    whitening = improved(old.moved(old.unwhiten(pool.mean(axis=0)[None])[0]), hessian)
    positions = whitening.whiten(old.unwhiten(draws[:, -1]))
    refitted = fit_posterior(archive.training(), whitening, rng, like=posterior.kernel)
    moved = _State(refitted, positions)
    return _State(refitted, _draw(moved, rng)[:, -1])


def _shoulders(state: _State, count: int, rng: np.random.Generator) -> Array:
    """Draws of a tempered surrogate, a standard deviation further out than the others, whitened: (count, d)."""
    dim = state.posterior.dim
    temperature = (1.0 + dim**-0.5) ** 2

    def tempered(z: Array) -> tuple[Array, Array]:
        values, gradients = state.posterior.values_and_gradients(z)
        return values / temperature, gradients / temperature

    positions = state.positions[rng.choice(CHAINS, count, replace=False)]
    start = (positions, *tempered(positions))
    step = float(np.sqrt(temperature)) * dim**-0.25
    return run_chains(tempered, start, transitions=TRANSITIONS, step_size=step, rng=rng).draws[:, -1]


def _draw(state: _State, rng: np.random.Generator) -> Array:
    posterior = state.posterior
    start = (state.positions, *posterior.values_and_gradients(state.positions))
    step = posterior.dim**-0.25
    return run_chains(posterior.values_and_gradients, start, transitions=TRANSITIONS, step_size=step, rng=rng).draws
