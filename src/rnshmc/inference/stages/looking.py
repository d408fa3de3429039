"""The check of the tails: exact values where draws of the surrogate are rare."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import FARTHEST
from rnshmc.inference.surrogate.leave_one_out import LeaveOneOut
from rnshmc.inference.surrogate.paths import Paths
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.tails import Tails, no_tails, standardised_moments
from rnshmc.inference.tuning import TailChecks
from rnshmc.inference.warp import STRAIGHT, Warp, WarpLayer
from rnshmc.types import Array

STAGE = "tails"


def still_to_look(posterior: SurrogatePosterior, tuning: TailChecks) -> int:
    """Exact values of a look further out, less the runs that are known there and show nothing.

    Those are beyond the typical distance of draws, at plausible heights, and the emulator without each of them predicts
    the potential there. If it does not for one of them, the look is a whole one.
    """
    far = LeaveOneOut.of(posterior).beyond(float(np.sqrt(posterior.dim)))
    known = len(far) if (np.abs(far) < tuning.gross).all() else 0
    return max(0, look_size(posterior, tuning) - known)


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
    felt = np.abs(standardised_moments(paths, paths.points)).max(axis=1)
    by_weight = felt * paths.weights
    probabilities = 0.5 * (felt / felt.sum() + by_weight / by_weight.sum())
    chosen = rng.choice(len(felt), count, p=probabilities)
    points = paths.points[chosen]
    found = archive.evaluate(points, STAGE, gradient=False)
    usable = np.array([one.failure is None for one in found])
    above = posterior.values(points) - np.array([one.value for one in found])
    shares = paths.weights[chosen] / (count * probabilities[chosen])
    missing = shares * np.abs(np.expm1(np.minimum(above, tuning.highest)))
    return Tails(points[usable], np.where(_counts(above, points, paths, tuning), missing, 0.0)[usable])


def look_along(
    archive: Archive,
    posterior: SurrogatePosterior,
    paths: Paths,
    rng: np.random.Generator,
    tuning: TailChecks,
    suspected: Warp,
) -> Tails:
    """Exact values beyond the ends of the drivers of a bend, at other coordinates that draws have near these ends.

    A bend extrapolates: where scales do not go on as it says, tempered draws in bent coordinates come nowhere near the
    posterior beyond, and nothing would be seen to be missing. Nor would the neck of a funnel be, by draws in straight
    coordinates: other coordinates then have the scales there that a bend says, which is only suspected.

    Parameters
    ----------
    suspected
        A bend that is not taken; `STRAIGHT` without any.
    """
    seen = _look_along(archive, posterior, paths, rng, tuning, archive.bend.layers, STRAIGHT)
    return seen.joined(_look_along(archive, posterior, paths, rng, tuning, suspected.layers, suspected))


def _look_along(
    archive: Archive,
    posterior: SurrogatePosterior,
    paths: Paths,
    rng: np.random.Generator,
    tuning: TailChecks,
    layers: tuple[WarpLayer, ...],
    behind: Warp,
) -> Tails:
    """What is seen along the drivers of layers, in the coordinates behind a bend of straight ones."""
    seen = no_tails(archive.dim)
    with np.errstate(over="ignore", invalid="ignore"):
        others = behind.inverse(archive.bend.forward(paths.points))
    there = _representable(others)
    others, shares = np.where(there[:, None], others, 0.0), np.where(there, paths.weights, 0.0)
    for driver in sorted({layer.driver for layer in layers}):
        t = others[:, driver] - shares @ others[:, driver]
        deviation = float(np.sqrt(shares @ t**2))
        for step in (-deviation, deviation):
            weights = np.where(t * np.sign(step) > tuning.end * deviation, shares, 0.0)
            if weights.any():
                chosen = rng.choice(len(weights), tuning.along, p=weights / weights.sum())
                found = _beyond(archive, posterior, paths.points[chosen], driver, step, tuning, behind)
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
    found = archive.evaluate(points, STAGE, gradient=False)
    exact = np.array([one.value if one.failure is None else np.inf for one in found])
    expected = posterior.values(points)
    # Potentials without a bend are higher by log |dx/dy|.
    heights = posterior.values(draws) + bend.log_jacobians(draws) - behind.log_jacobians(start)
    heights -= bend.log_jacobians(points) - behind.log_jacobians(moved)
    true, own = (np.exp(np.minimum(heights - each, tuning.highest)) for each in (exact, expected))
    return Tails(points, np.where(expected - exact > tuning.gross, true - own, 0.0))


def _representable(points: Array) -> npt.NDArray[np.bool_]:
    """Whether layers leave the rows finite, and their squares too: exponentials of a driver may not."""
    return np.asarray(np.isfinite(points).all(axis=1) & (np.abs(points) < FARTHEST).all(axis=1))


def look_size(posterior: SurrogatePosterior, tuning: TailChecks) -> int:
    """Exact values of a look."""
    return max(tuning.fewest_looked, -(-tuning.look // posterior.dim))


def _counts(above: Array, points: Array, paths: Paths, tuning: TailChecks) -> Array:
    """Whether V - U is a difference that corrections do not account for."""
    far = np.abs(standardised_moments(paths, points)[:, : points.shape[1]]).max(axis=1) > tuning.far
    return np.asarray((above > tuning.gross) | ((above < -tuning.gross) & far))
