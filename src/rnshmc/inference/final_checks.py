"""A few exact values at the end of a run, where neither draws nor chains have been: far out, and at another bound."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rnshmc.errors import Stopped
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import FARTHEST
from rnshmc.inference.result.estimates import spread
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.state import State
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import BATCH, DIFFERENT, RARE, ROUNDS, TOLERATED
from rnshmc.types import Array

_log = logging.getLogger(__name__)


def with_outlying(state: State) -> State:
    """The state with `outlying` mass; emulated outputs, of which each value costs a run, are left out."""
    archive, chains = state.archive, state.rows is None
    exact = state.chains() if chains else state.exact
    if exact is None or archive.emulating:
        return state
    points, potentials = exact.draws.reshape(-1, archive.dim), exact.potentials.ravel()
    # Moments are of all draws of a surrogate, of which rows are a part.
    some = points if state.rows is None else state.rows[0]
    draws = some if state.surrogate_draws is None or chains else state.surrogate_draws
    draws, tuning, rng = draws.reshape(-1, archive.dim), state.tuning, state.rng.spawn(1)[0]
    return replace(state, outlying=outlying(archive, draws, (points, potentials), rng, tuning, chains=chains))


def outlying(
    archive: Archive,
    draws: Array,
    exact: tuple[Array, Array],
    rng: np.random.Generator,
    tuning: Tuning,
    *,
    chains: bool,
) -> float:
    """Part of a variance that draws lack far out, in standard deviations of the square of a normal variable.

    For draws x of the density p, and the set A of those whose distance from the mean is within a factor sqrt(2) of the
    median,

        P(c A) = P(A) E[p(c x) c^d / p(x) | x in A],

    x relative to the mean. x and d are those of the coordinates that are no angles; these are not stretched. The share
    of draws (n, d) in c A is subtracted, and twice the standard error of the average. ``exact`` are draws with
    potentials, (k, d) and (k,). Several of exact ``chains``, which are many evaluations, are stretched by 2, 4, ...; of
    a surrogate's draws it is one, and more where that one shows mass, and c A begins beyond all of them.
    """
    mean, scale, dim, free = draws.mean(axis=0), spread(draws), archive.dim, np.arange(archive.dim)
    if (angles := archive.coordinates.transform.angles) is not None:
        free = np.setdiff1d(free, angles.columns)
        if not (dim := len(free)):
            return 0.0
    standard = (np.ascontiguousarray(((some - mean) / scale)[:, free]) for some in (draws, exact[0]))
    radii, from_mean = (np.linalg.norm(some, axis=1) for some in standard)
    middle, half = float(np.median(radii)), np.sqrt(2.0)
    near = np.flatnonzero((from_mean > middle / half) & (from_mean < middle * half) & np.isfinite(exact[1]))
    if not len(near):
        return 0.0
    # One set fewer beyond all draws of a surrogate, where logarithms of parameters soon leave the range of numbers.
    times = ROUNDS if chains else ROUNDS - 1
    near = rng.permutation(near) if chains else near[np.argsort(np.abs(from_mean[near] - middle))]
    first = 2.0 if chains else half * float(radii.max()) / middle
    # Sets are a factor of two wide: the next one begins where one ends.
    factors = first * 2.0 ** np.arange(times)
    within = (radii > middle / half) & (radii < middle * half)
    edges = middle * factors[:, None] * [1.0 / half, half]
    own = ((radii > edges[:, :1]) & (radii < edges[:, 1:])).mean(axis=1)
    ratios, lacking = np.zeros((times, 0)), 0.0
    # One draw may be in a direction of long tails: several are to show that mass is lacking.
    for count in (tuning.tails.look,) if chains else (1, BATCH):
        more = near[ratios.shape[1] : count]
        stretched = np.tile(exact[0][more], (times, 1, 1))
        stretched[..., free] = (mean + factors[:, None, None] * (exact[0][more] - mean))[..., free]
        values = _far_values(archive, stretched.reshape(-1, archive.dim))
        if values is None:
            return 0.0
        rises = values.reshape(times, -1) - exact[1][more]
        seen = np.exp(np.minimum(dim * np.log(factors)[:, None] - rises, tuning.fitting.plausible))
        ratios = np.hstack((ratios, within.mean() * seen))
        lower = ratios.mean(axis=1) - 2.0 * ratios.std(axis=1) / np.sqrt(ratios.shape[1])
        lacking = float(np.maximum(lower - own, 0.0) @ ((factors * middle) ** 2 / dim - 1.0) / np.sqrt(2.0))
        if lacking <= TOLERATED:
            break
    return lacking


def _far_values(archive: Archive, points: Array) -> Array | None:
    """Potentials at the rows, infinite beyond the range of numbers; None if the budget does not allow them."""
    with np.errstate(over="ignore", invalid="ignore"):
        there = np.abs(archive.bend.forward(points)).max(axis=1) < FARTHEST
    if archive.affordable(points[there]) < there.sum():
        return None
    values = np.full(len(points), np.inf)
    values[there] = [one.value for one in archive.evaluate(points[there], "far out", gradient=False)]
    return values


def with_other_ends(outcome: Outcome, archive: Archive, names: Sequence[str]) -> Outcome:
    """Add a doubt for each parameter whose draws pile up at one of two bounds, if the density at the other is as high.

    Draws pile up at a bound if some are near it, and none near the other one, as of an angle whose posterior is across
    0. The exact draw nearest to the bound is then reflected about the middle of the interval, and the density evaluated
    there; one that ends at a bound, such as a half-normal, is nearly 0 there. A run that stopped early is not checked.
    ``archive`` is in the coordinates of the outcome.
    """
    if outcome.stopped is not None:
        return outcome
    try:
        doubts = tuple(_other_ends(outcome, archive, names))
    except Stopped:
        return outcome
    for doubt in doubts:
        _log.warning("%s", doubt)
    more = {stage: spent for stage, spent in archive.journal.by_stage.items() if spent.points}
    return replace(outcome, doubts=(*outcome.doubts, *doubts), spent=archive.spent, by_stage=outcome.by_stage | more)


def _other_ends(outcome: Outcome, archive: Archive, names: Sequence[str]) -> Iterator[str]:
    transform, rows = archive.coordinates.transform, outcome.rows
    points, potentials = outcome.draws.reshape(-1, transform.dim), outcome.potentials.ravel()
    if not len(rows) or not len(points):
        return
    theta = transform.parameters(rows)
    for i in np.flatnonzero(np.isfinite(transform.low) & np.isfinite(transform.high)):
        reach = TOLERATED * theta[:, i].std()
        below, above = theta[:, i] - transform.low[i] < reach, transform.high[i] - theta[:, i] < reach
        if max(below.mean(), above.mean()) < RARE or (below.any() and above.any()):
            continue
        # Coordinates are logits: the reflection about the middle has the opposite one, and the same Jacobian.
        nearest = int(np.argmin(points[:, i]) if below.any() else np.argmax(points[:, i]))
        reflected = points[nearest].copy()
        reflected[i] *= -1.0
        [found] = archive.evaluate(reflected[None], "other ends", gradient=False)
        if found.value < potentials[nearest] + DIFFERENT:
            bounds = transform.low[i], transform.high[i]
            here, there = bounds if below.any() else bounds[::-1]
            yield (
                f"{names[i]}: draws pile up at the bound {here:.6g}, but the density is as high at the other end, "
                f"{there:.6g}, where there are no draws. If {names[i]} is periodic, make it an angle, "
                f'("angle", {bounds[0]:.6g}, {bounds[1]:.6g}) in bounds or ("uniform_angle", low, high) in a prior; '
                "if not, pass starts near both bounds (x0)."
            )
