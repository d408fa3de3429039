"""Exact values at draws of a surrogate and further out, and the mass that it misses there."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import FARTHEST
from rnshmc.inference.stages.fits import Fit
from rnshmc.inference.surrogate.outputs import leave_one_out
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_tempered, temperature
from rnshmc.inference.surrogate.uncertainty import Paths, Tails, no_tails, surprises
from rnshmc.inference.tuning import TailChecks, Tuning
from rnshmc.inference.tuning_shared import SURPRISE
from rnshmc.inference.warp import Warp
from rnshmc.types import Array

STAGE, TAILS = "training", "tails"


@dataclass(frozen=True, eq=False)
class Batch:
    """Exact values compared with a surrogate that was not fitted to them."""

    differences: Array
    """U - V at draws that did not fail."""
    missing: float
    """Mass on the shoulders that the surrogate misses, relative to its own."""
    surprised: Array
    """`surprises` there."""
    size: int
    """Number of points."""


def evaluated_batch(archive: Archive, fit: Fit, size: int, rng: np.random.Generator, tuning: Tuning) -> Batch:
    """Evaluate at ``size`` draws, and at points further out: fewer of these in more dimensions."""
    training, posterior = tuning.training, fit.posterior
    z = fit.positions[rng.choice(len(fit.positions), min(size, len(fit.positions)), replace=False)]
    outer = _shoulders(fit, int(np.ceil(size * min(1.0, training.shoulders / archive.dim))), rng, tuning)
    x = posterior.whitening.unwhiten(np.concatenate((z, outer)))
    found = archive.evaluate(x, STAGE)
    values, surrogate = np.array([one.value for one in found]), posterior.values(x)
    with np.errstate(invalid="ignore"):  # where both are infinite
        away, count = values - surrogate, len(z)
    differences = away[:count]
    typical = np.median(differences[np.isfinite(differences)]) if np.isfinite(differences).any() else 0.0
    tempered = slice(count, len(x) - len(outer) // 2)
    missing = _missing_mass(away[tempered] - typical, surrogate[tempered], archive.dim)
    heights = values - archive.training().values.min()
    too_high = away - typical < -training.usable
    if (heights[too_high] < tuning.fitting.plausible + 0.5 * archive.dim).any():
        missing = np.inf
    usable = differences[[one.failure is None for one in found[:count]]]
    return Batch(usable, missing, surprises(posterior, x[count:], values[count:]), len(x))


def _missing_mass(differences: Array, surrogate: Array, dim: int) -> float:
    """Posterior mass that tempered draws find beyond the surrogate's, relative to the latter.

    From U - V at the draws, less their median over draws of the surrogate, and from V there.
    """
    # Importance weights of the surrogate at its tempered draws.
    weights = np.exp((1.0 / temperature(dim) - 1.0) * (surrogate - surrogate.min()))
    return float(weights @ np.expm1(np.clip(-differences, -50.0, 10.0)) / weights.sum())


def _shoulders(fit: Fit, count: int, rng: np.random.Generator, tuning: Tuning) -> Array:
    """Whitened points, (count, d), of which the first half are draws of the tempered surrogate.

    Those are a standard deviation further out than its draws. The others are as far or farther, in random directions:
    where a surrogate is too high, none of its draws show it.
    """
    dim = fit.posterior.dim
    outer = rng.standard_normal((count // 2, dim))
    beyond = rng.uniform(0.0, tuning.fitting.wall - tuning.fitting.wall_margin, count // 2)
    outer *= ((np.sqrt(dim) + beyond) / np.linalg.norm(outer, axis=1))[:, None]
    positions = fit.positions[rng.choice(len(fit.positions), count - count // 2, replace=False)]
    drawn, _ = draw_tempered(fit.posterior, positions, transitions=tuning.training.transitions, rng=rng)
    return np.concatenate((drawn[:, -1], outer))


def look_size(posterior: SurrogatePosterior, tuning: TailChecks, *, known: bool) -> int:
    """Number of exact values of a look further out, less the ``known`` runs there that show no error.

    Those are beyond the typical distance of draws, at plausible heights, and the emulator without each of them predicts
    the potential there. If it fails to for one of them, all values are needed.
    """
    count = -(-tuning.look // posterior.dim)
    if not known:
        return count
    distances, differences, _ = leave_one_out(posterior)
    far = differences[distances > np.sqrt(posterior.dim)]
    return max(0, count - len(far)) if (np.abs(far) < tuning.gross).all() else count


def look_out(
    archive: Archive,
    posterior: SurrogatePosterior,
    paths: Paths,
    rng: np.random.Generator,
    tuning: TailChecks,
    *,
    count: int,
) -> Tails:
    """Exact values at ``count`` tempered draws, which represent the surrogate with importance weights.

    Half are chosen by their influence on means and variances, and half by that times their weight.
    """
    influence = np.abs(paths.standardised_moments(paths.points)).max(axis=1)
    by_weight = influence * paths.weights
    probabilities = 0.5 * (influence / influence.sum() + by_weight / by_weight.sum())
    chosen = rng.choice(len(influence), count, p=probabilities)
    points = paths.points[chosen]
    found = archive.evaluate(points, TAILS, gradient=False)
    usable = np.array([one.failure is None for one in found])
    above = posterior.values(points) - np.array([one.value for one in found])
    shares = paths.weights[chosen] / (count * probabilities[chosen])
    missing = shares * np.abs(np.expm1(np.minimum(above, posterior.tuning.plausible)))
    # Only differences that corrections do not account for.
    far = np.abs(paths.standardised_moments(points)[:, : archive.dim]).max(axis=1) > SURPRISE
    counted = (above > tuning.gross) | ((above < -tuning.gross) & far)
    return Tails(points[usable], np.where(counted, missing, 0.0)[usable])


def look_along(
    archive: Archive,
    posterior: SurrogatePosterior,
    paths: Paths,
    rng: np.random.Generator,
    tuning: TailChecks,
    suspected: Warp,
) -> Tails:
    """Exact values beyond the ends of the drivers of a bend, at other coordinates that draws have near these ends.

    A bend extrapolates: where the true scales differ from it, tempered draws in bent coordinates do not come near the
    posterior beyond, and no missing mass is seen. Nor do draws in straight coordinates reach the neck of a funnel:
    other coordinates then get the scales of a bend that is only ``suspected``, where the archive has none.
    """
    seen = no_tails(archive.dim)
    if not (layers := archive.bend.layers or suspected.layers):
        return seen
    with np.errstate(over="ignore", invalid="ignore"):
        others = suspected.inverse(archive.bend.forward(paths.points))
    there = _representable(others)
    others, shares = np.where(there[:, None], others, 0.0), np.where(there, paths.weights, 0.0)
    for driver in sorted({layer.driver for layer in layers}):
        t = others[:, driver] - shares @ others[:, driver]
        deviation = float(np.sqrt(shares @ t**2))
        for step in (-deviation, deviation):
            weights = np.where(t * np.sign(step) > deviation, shares, 0.0)
            if weights.any():
                chosen = rng.choice(len(weights), tuning.along, p=weights / weights.sum())
                found = _beyond(archive, posterior, paths.points[chosen], driver, step, tuning, suspected)
                seen = seen.joined(replace(found, missing=weights.sum() / tuning.along * found.missing))
    return seen


def _beyond(
    archive: Archive,
    posterior: SurrogatePosterior,
    draws: Array,
    driver: int,
    step: float,
    tuning: TailChecks,
    behind: Warp,
) -> Tails:
    """Mass that a surrogate lacks at draws that are moved along a driver, relative to its own at each draw.

    They are moved in coordinates without the archive's bend, but behind another one, in which that has a Jacobian of 1.
    """
    bend = archive.bend
    start = behind.inverse(bend.forward(draws))
    moved = start + step * np.eye(archive.dim)[driver]
    with np.errstate(over="ignore", invalid="ignore"):
        points = bend.inverse(behind.forward(moved))
    there = _representable(points)
    draws, start, moved, points = draws[there], start[there], moved[there], points[there]
    found = archive.evaluate(points, TAILS, gradient=False)
    exact = np.array([one.value if one.failure is None else np.inf for one in found])
    expected = posterior.values(points)
    # Potentials without a bend are higher by log |dx/dy|.
    heights = posterior.values(draws) + bend.log_jacobians(draws) - behind.log_jacobians(start)
    heights -= bend.log_jacobians(points) - behind.log_jacobians(moved)
    true, own = (np.exp(np.minimum(heights - each, posterior.tuning.plausible)) for each in (exact, expected))
    return Tails(points, np.where(expected - exact > tuning.gross, true - own, 0.0))


def _representable(points: Array) -> npt.NDArray[np.bool_]:
    """Whether layers leave the rows finite, and their squares too: exponentials of a driver may not."""
    return np.asarray(np.isfinite(points).all(axis=1) & (np.abs(points) < FARTHEST).all(axis=1))
