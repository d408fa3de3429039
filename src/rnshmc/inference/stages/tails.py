"""What a surrogate misses in its tails, where its own draws hardly come: points to train on, and a last look."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.surrogate.paths import Paths
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, plausible_height, reach
from rnshmc.types import Array

STAGE = "tails"
BATCH = 8
"""Points that are trained on at a time where tails are open."""
EDGE = 1.0
"""Draws that are no farther from the wall stand for what is beyond it."""
BLIND, UNUSUAL = 0.7, 3.0
"""sd of U - V, by the process, from which on a position is open, also in units of what it is over the surrogate.

Less is what corrections account for.
"""
HIGHEST = 8.0
"""Logarithm of the largest ratio of densities that counts."""
SMALL = 0.25
"""Part of a moment that may be missing, in units of the error aimed at."""
LOOK, FEWEST = 32, 2
"""Exact values of a last look: this over the dimension, as tails are longer in fewer dimensions; and the least."""
GROSS = 0.5
"""U - V counts from here on: less is what corrections account for."""
FAR = 3.0
"""Standard deviations beyond which draws of the surrogate do not tell that it is too low."""


@dataclass(frozen=True, eq=False)
class Tails:
    """What a surrogate may miss, or is seen to miss, at points.

    Attributes
    ----------
    points
        In x, shape (m, d).
    missing
        Mass that the surrogate lacks there, or has too much of, in units of all of its mass, shape (m,); not negative.
    """

    points: Array
    missing: Array

    def shift(self, values: Array) -> Array:
        """The most by which E_U f and E_V f differ, for functions of mean 0 over the surrogate, from f, (m, ...)."""
        return np.asarray(np.tensordot(self.missing, np.abs(values), axes=1))

    def joined(self, other: "Tails") -> "Tails":
        """The points of both."""
        return Tails(np.concatenate((self.points, other.points)), np.concatenate((self.missing, other.missing)))


def expected_tails(paths: Paths, posterior: SurrogatePosterior, *, doubt: float) -> Tails:
    """What a surrogate may miss at tempered draws, before any exact value there.

    That is the share of a draw where the variance s^2 of U - V is large, times exp(s^2 / 2) - 1, which is the
    expectation of exp(V - U) - 1; and all of it near the wall, beyond which the surrogate is a guess.

    Parameters
    ----------
    doubt
        With which variances of the process are multiplied (`doubt`).
    """
    z = posterior.whitening.whiten(paths.points)
    at_wall = np.linalg.norm(z, axis=1) > posterior.radius - EDGE
    variances = doubt * posterior.covariance(z).diagonal()
    least = max(BLIND**2, UNUSUAL**2 * float(paths.weights @ variances))
    expected = np.where(variances > least, np.expm1(np.minimum(0.5 * variances, HIGHEST)), 0.0)
    return Tails(paths.points, paths.weights * np.maximum(at_wall, expected))


def surprises(posterior: SurrogatePosterior, x: Array, values: Array) -> Array:
    """(U - V) / s at plausible points among the rows of x, s^2 the variance of U - V by the process: shape (k,)."""
    usable = values < posterior.offset + plausible_height(posterior.dim)
    if not usable.any():
        return np.zeros(0)
    z = posterior.whitening.whiten(x[usable])
    spread = np.sqrt(np.maximum(posterior.covariance(z).diagonal(), 0.0) + posterior.kernel.noise**2)
    return np.asarray((values[usable] - posterior.values(x[usable])) / np.maximum(spread, np.finfo(float).tiny))


def doubt(surprised: Sequence[Array]) -> float:
    """Mean square of all `surprises` where U is below V, by symmetry for both sides, and at least 1.

    A potential above the surrogate, as behind a cliff, is no reason to look for more mass.
    """
    below = np.minimum(np.concatenate((*surprised, np.zeros(0))), 0.0)
    return max(1.0, 2.0 * float((below**2).mean())) if len(below) else 1.0


def look_out(archive: Archive, posterior: SurrogatePosterior, paths: Paths, rng: np.random.Generator) -> Tails:
    """Exact values at a few tempered draws, which stand for the surrogate with importance weights.

    Half are chosen by how much means and variances feel a draw, and half by how much of that is the surrogate's.
    """
    count = max(FEWEST, -(-LOOK // posterior.dim))
    felt = np.abs(_moments(paths, paths.points)).max(axis=1)
    by_weight = felt * paths.weights
    probabilities = 0.5 * (felt / felt.sum() + by_weight / by_weight.sum())
    chosen = rng.choice(len(felt), count, p=probabilities)
    points = paths.points[chosen]
    found = archive.evaluate(points, STAGE, gradient=False)
    usable = np.array([one.failure is None for one in found])
    above = posterior.values(points) - np.array([one.value for one in found])
    shares = paths.weights[chosen] / (count * probabilities[chosen])
    far = np.abs(_moments(paths, points)[:, : posterior.dim]).max(axis=1) > FAR
    counts = (above > GROSS) | ((above < -GROSS) & far)
    missing = np.where(counts, shares * np.abs(np.expm1(np.minimum(above, HIGHEST))), 0.0)
    return Tails(points[usable], missing[usable])


def missed(tails: Tails, paths: Paths, posterior: SurrogatePosterior, *, aim: float, rng: np.random.Generator) -> Array:
    """Points within reach, (k, d), at which a part of a mean or variance is missing; none if that is small.

    Small is beside the error of ``aim`` independent draws.
    """
    near = np.linalg.norm(posterior.whitening.whiten(tails.points), axis=1) < reach(posterior.dim)
    parts = (near * tails.missing)[:, None] * np.abs(_moments(paths, tails.points))
    if (parts.sum(axis=0) <= SMALL / np.sqrt(aim)).all():
        return np.zeros((0, tails.points.shape[1]))
    influence = parts.max(axis=1)
    count = min(BATCH, np.count_nonzero(influence))
    return np.asarray(tails.points[rng.choice(len(parts), count, replace=False, p=influence / influence.sum())])


def _moments(paths: Paths, x: Array) -> Array:
    """Coordinates and their squares at the rows of x, (m, 2 d), of mean 0 and variance 1 over the surrogate."""
    # Truncated weights (Ionides 2008), the rest for all draws alike: a hole far out must not be all there is.
    weights = np.minimum(paths.weights, len(paths.weights) ** -0.5)
    weights += (1.0 - weights.sum()) / len(weights)
    functions = np.column_stack((paths.points, (paths.points - weights @ paths.points) ** 2))
    mean = weights @ functions
    spread = np.sqrt(weights @ (functions - mean) ** 2)
    dim = x.shape[1]
    return np.asarray((np.column_stack((x, (x - mean[:dim]) ** 2)) - mean) / spread)
