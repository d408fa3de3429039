"""Batches of exact evaluations at draws of the surrogate, until the surrogate is good enough."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.weights import weight_variance
from rnshmc.inference.stages.tails import Tails, doubt, expected_tails, look_out, missed, surprises
from rnshmc.inference.surrogate.paths import Paths, draw_paths, open_points
from rnshmc.inference.surrogate.posterior import (
    MOST_ROWS,
    PLAUSIBLE,
    SurrogatePosterior,
    draw_chains,
    draw_tempered,
    fit_posterior,
    plausible,
    temperature,
    within_reach,
)
from rnshmc.inference.surrogate.whitening import Whitening, improved
from rnshmc.types import Array

STAGE = "training"
CHAINS = 128
TRANSITIONS = 25
FIRST_BATCH = 8
MOST_POINTS, MOST_VALUES = 320, 3000
"""Training points, with gradients and without: a value says a (d + 1)-th of what a value and a gradient say."""
HOPELESS = 6
"""A surrogate that is far off after this many times d + 20 points is given up."""
STALE = 1.3
"""Length and noise are searched again when there are this many times the points of the last search."""
WORTH = 1.3
"""Training goes on while the exact values that corrections need are more than this many times the training points.

Where sd(U - V) falls as n^-0.75, the sum of both is least at 4/3.
"""
SHOULDERS = 5
"""Points from the shoulders are as many as draws in this many dimensions, and fewer in more, where less is missed."""
FEWEST = 20
"""Training points that every surrogate has, and one more for each dimension, or two for each term of a quadratic."""
FEWEST_CHECKS = 25
"""Exact values at draws of a finished surrogate."""
SHRUNK = 0.5
"""Share of the values that corrections need, for they are combined with what the process expects of them."""
BENT = 3.0
"""Variance in some direction, over that of a normal density with the mean Hessian, above which a density is bent."""
BEYOND = (0.0, 3.0)
"""How far beyond sqrt(d) points in random directions are."""
TOO_HIGH = 1.0
"""V - U at a plausible point above which the surrogate misses some of the posterior."""
MISSING = 1.0
"""Mass on the shoulders that the surrogate may miss, by the few points there, in units of its own."""
AT_WALL = 2e-3
"""Share of a surrogate's draws that may be at its wall."""
SOUND = 4.0
"""Coordinates are whitened by draws of a surrogate only if its weights vary by less."""
LOOKS = 4
"""Looks further out, at most, of which each but the last may lead to more training."""
RECENT = 3
"""Batches whose surprises tell how far the process is to be believed."""
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
    tails
        What it may miss in its tails.
    good
        Whether it is accurate enough to draw with.
    """

    posterior: SurrogatePosterior
    positions: Array
    variance: float
    tails: Tails
    good: bool


def train(archive: Archive, whitening: Whitening, *, aim: float, rng: np.random.Generator) -> Trained:
    """Fit, draw, evaluate at draws, and again, until corrections to a precision of ``aim`` draws cost less than that.

    Then points are added where the surrogate leaves too much open, most of all in its tails. When that is little,
    and not when there are as many points as there may be, exact values are looked at further out
    (`rnshmc.inference.stages.tails`).

    Raises
    ------
    FitError
        If no surrogate can be fitted.
    """
    state = _first(archive, whitening, rng)
    searched = len(state.posterior.kernel.centres)
    fewest = FEWEST + (archive.dim if archive.has_gradient else (archive.dim + 1) * (archive.dim + 2))
    variance, before, missing, tried, looks = np.inf, np.inf, 0.0, 0, 0
    surprised: list[Array] = []
    while True:
        used = len(state.posterior.kernel.centres)
        full = _full(archive, used, tried)
        enough = SHRUNK * aim * variance <= WORTH * used and used >= fewest
        if enough and state.at_wall < AT_WALL and missing < MISSING:
            left = _left_open(archive, state, surprised, checks=checks_for(aim, variance), aim=aim, rng=rng)
            looks += left.looked
            if full or looks == LOOKS or not len(left.points):
                return Trained(state.posterior, state.positions, variance, left.tails, good=True)
            found = archive.evaluate(left.points, STAGE)
            surprised.append(surprises(state.posterior, left.points, np.array([one.value for one in found])))
            tried += len(found)
            state = _next(archive, state, rng, search=False, sound=True)
            continue
        hopeless = tried >= HOPELESS * (archive.dim + 20) and variance > SOUND
        if full or hopeless:
            _, tails = _open(state, surprised, rng)
            return Trained(state.posterior, state.positions, variance, tails, good=variance < 1.0)
        size = FIRST_BATCH if not np.isfinite(variance) else max(FIRST_BATCH, archive.dim // 4, min(used // 8, CHAINS))
        batch = _evaluated(archive, state, size, rng)
        tried, missing = tried + batch.size, batch.missing
        surprised.append(batch.surprised)
        latest = weight_variance(batch.differences)
        # A few draws say little: two batches together, unless the first is far below what would be good enough.
        known = min(before, CAP) if 4.0 * SHRUNK * aim * latest > WORTH * used else latest
        variance, before = 0.5 * (latest + known), latest
        archive.surrogate_error = float(np.sqrt(variance))
        again = len(within_reach(archive.training(), state.posterior.whitening).values) > STALE * searched
        state = _next(archive, state, rng, search=again, sound=latest < SOUND)
        searched = len(state.posterior.kernel.centres) if again else searched


def _full(archive: Archive, used: int, tried: int) -> bool:
    most, rows = (MOST_POINTS, archive.dim + 1) if archive.has_gradient else (MOST_VALUES, 1)
    return max(used, tried) >= most or used * rows + MOST_ROWS // 20 > MOST_ROWS


@dataclass(frozen=True, eq=False)
class _Batch:
    """What exact values at draws of a surrogate, and on its shoulders, say of it.

    U - V at draws that did not fail; mass on the shoulders that it misses; `surprises` there; the number of points.
    """

    differences: Array
    missing: float
    surprised: Array
    size: int


def _evaluated(archive: Archive, state: "_State", size: int, rng: np.random.Generator) -> _Batch:
    z = state.positions[rng.choice(CHAINS, min(size, CHAINS), replace=False)]
    shoulders = _shoulders(state, _on_shoulders(size, archive.dim), rng)
    x = state.posterior.whitening.unwhiten(np.concatenate((z, shoulders)))
    found = archive.evaluate(x, STAGE)
    values, surrogate = np.array([one.value for one in found]), state.posterior.values(x)
    away, count = values - surrogate, len(z)
    differences = away[:count]
    typical = np.median(differences[np.isfinite(differences)]) if np.isfinite(differences).any() else 0.0
    tempered = slice(count, len(x) - len(shoulders) // 2)
    missing = missing_mass(away[tempered] - typical, surrogate[tempered], archive.dim)
    heights = values - archive.training().values.min()
    if (heights[(away - typical < -TOO_HIGH)] < PLAUSIBLE + 0.5 * archive.dim).any():
        missing = np.inf
    usable = differences[[one.failure is None for one in found[:count]]]
    return _Batch(usable, missing, surprises(state.posterior, x[count:], values[count:]), len(x))


def _open(state: "_State", surprised: list[Array], rng: np.random.Generator) -> tuple[Paths, Tails]:
    """What the surrogate leaves open, by its process, which past surprises tell to believe or not."""
    paths = draw_paths(state.posterior, state.positions, np.zeros((0, state.posterior.dim)), np.zeros(0), rng)
    return paths, expected_tails(paths, state.posterior, doubt=doubt(surprised[-RECENT:]))


@dataclass(frozen=True, eq=False)
class _Left:
    """Points to train on, (k, d); what tails may lack; whether exact values were looked at for that."""

    points: Array
    tails: Tails
    looked: bool


def _left_open(
    archive: Archive, state: "_State", surprised: list[Array], *, checks: int, aim: float, rng: np.random.Generator
) -> _Left:
    """No points where nothing is left open that is not small, by the process, and then by exact values further out."""
    paths, tails = _open(state, surprised, rng)
    left = missed(tails, paths, state.posterior, aim=aim, rng=rng)
    if not len(left):
        left = open_points(paths, state.posterior.whitening, checks=checks, aim=aim, rng=rng)
    if len(left):
        return _Left(left, tails, looked=False)
    seen = look_out(archive, state.posterior, paths, rng)
    return _Left(missed(seen, paths, state.posterior, aim=aim, rng=rng), tails.joined(seen), looked=True)


def checks_for(aim: float, variance: float) -> int:
    """Exact values that corrections to a precision of ``aim`` draws need, for weights of some variance."""
    return max(FEWEST_CHECKS, int(np.ceil(SHRUNK * aim * min(variance, 1.0))))


def _on_shoulders(batch: int, dim: int) -> int:
    return int(np.ceil(batch * min(1.0, SHOULDERS / dim)))


def missing_mass(differences: Array, surrogate: Array, dim: int) -> float:
    """Share of the posterior's mass, over the surrogate's, that draws of the shoulders find beyond what they expect.

    Parameters
    ----------
    differences
        U - V at the draws, less their median over draws of the surrogate.
    surrogate
        V there.
    """
    if not len(differences):
        return 0.0
    # Tempered draws stand for the surrogate's with these weights.
    exponents = (1.0 / temperature(dim) - 1.0) * (surrogate - surrogate.min())
    weights = np.exp(exponents)
    return float(weights @ np.expm1(np.clip(-differences, -50.0, 10.0)) / weights.sum())


@dataclass(frozen=True, eq=False)
class _State:
    posterior: SurrogatePosterior
    positions: Array
    at_wall: float


def _state(posterior: SurrogatePosterior, draws: Array) -> _State:
    norms = np.linalg.norm(draws[:, TRANSITIONS // 2 :], axis=2)
    return _State(posterior, draws[:, -1], float((norms > posterior.radius - 0.5).mean()))


def _first(archive: Archive, whitening: Whitening, rng: np.random.Generator) -> _State:
    posterior = fit_posterior(archive.training(), whitening, rng)
    positions = 0.7 * rng.standard_normal((CHAINS, archive.dim))
    return _rewhitened(archive, posterior, positions, rng)


def _next(archive: Archive, state: _State, rng: np.random.Generator, *, search: bool, sound: bool) -> _State:
    like = None if search else state.posterior.kernel
    whitening = state.posterior.whitening
    posterior = fit_posterior(archive.training(), whitening, rng, like=like)
    if sound:
        return _rewhitened(archive, posterior, state.positions, rng)
    # Chains of a surrogate that was wrong may be anywhere: they begin anew at points that are known to be good.
    known = whitening.whiten(plausible(archive.training()).points)
    draws = draw_chains(posterior, known[rng.choice(len(known), CHAINS)], transitions=TRANSITIONS, rng=rng)
    return _state(posterior, draws)


def _rewhitened(archive: Archive, posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator) -> _State:
    """Draws of a surrogate, and the surrogate fitted anew in coordinates whitened by them, if that changes them."""
    draws = draw_chains(posterior, positions, transitions=TRANSITIONS, rng=rng)
    pool = draws[:, TRANSITIONS // 2 :].reshape(-1, archive.dim)
    hessian = posterior.kernel.mean_hessian(pool[::5])
    spread = np.cov(pool.T).reshape(archive.dim, archive.dim)
    # For a normal density the two are inverses; a bent one is narrower wherever it is than it is on the whole.
    if np.linalg.eigvals(hessian @ spread).real.max() > BENT:
        hessian = np.linalg.inv(spread)
    curvatures = np.linalg.eigvalsh(hessian)
    if curvatures[0] > 0.8 and curvatures[-1] < 1.25 and np.linalg.norm(pool.mean(axis=0)) < 0.3:
        return _state(posterior, draws)
    old = posterior.whitening
    whitening = improved(old.moved(old.unwhiten(pool.mean(axis=0)[None])[0]), hessian)
    positions = whitening.whiten(old.unwhiten(draws[:, -1]))
    try:
        refitted = fit_posterior(archive.training(), whitening, rng, like=posterior.kernel)
    except FitError:
        return _state(posterior, draws)
    return _state(refitted, draw_chains(refitted, positions, transitions=TRANSITIONS, rng=rng))


def _shoulders(state: _State, count: int, rng: np.random.Generator) -> Array:
    """Whitened points, (count, d), of which the first half are draws of a tempered surrogate.

    Those are a standard deviation further out than its draws. The others are as far or farther, in random directions:
    where a surrogate is too high, none of its draws tells.
    """
    dim = state.posterior.dim
    outer = rng.standard_normal((count // 2, dim))
    outer *= ((np.sqrt(dim) + rng.uniform(*BEYOND, count // 2)) / np.linalg.norm(outer, axis=1))[:, None]
    positions = state.positions[rng.choice(CHAINS, count - count // 2, replace=False)]
    drawn, _ = draw_tempered(state.posterior, positions, transitions=TRANSITIONS, rng=rng)
    return np.concatenate((drawn[:, -1], outer))
