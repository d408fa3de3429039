"""A look further out: exact values where the surrogate's own draws hardly come."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.left_out import LeftOut
from rnshmc.inference.surrogate.paths import Paths
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.tails import Tails, standardised_moments
from rnshmc.inference.tuning import TailChecks
from rnshmc.types import Array

STAGE = "tails"


def still_to_look(posterior: SurrogatePosterior, tuning: TailChecks) -> int:
    """Exact values of a look further out, less the runs that are known there and show nothing.

    Those are beyond the typical distance of draws, at plausible heights, and the emulator without each of them predicts
    the potential there. If it does not for one of them, the look is a whole one.
    """
    far = LeftOut.of(posterior).beyond(float(np.sqrt(posterior.dim)))
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


def look_size(posterior: SurrogatePosterior, tuning: TailChecks) -> int:
    """Exact values of a look."""
    return max(tuning.fewest_looked, -(-tuning.look // posterior.dim))


def _counts(above: Array, points: Array, paths: Paths, tuning: TailChecks) -> Array:
    """Whether V - U is a difference that corrections do not account for."""
    far = np.abs(standardised_moments(paths, points)[:, : points.shape[1]]).max(axis=1) > tuning.far
    return np.asarray((above > tuning.gross) | ((above < -tuning.gross) & far))
