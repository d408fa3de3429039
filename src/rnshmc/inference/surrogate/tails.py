"""What a surrogate misses in its tails, where few of its own draws are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.inference.surrogate.paths import Paths
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.tuning import TailChecks
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Tails:
    """What a surrogate may miss, or is seen to miss, at points.

    Attributes
    ----------
    points
        In x, shape (m, d).
    missing
        Mass that the surrogate lacks there, or has in excess, relative to all of its mass, shape (m,); not negative.
    """

    points: Array
    missing: Array

    def shift(self, values: Array) -> Array:
        """Bound on |E_U f - E_V f|, for functions of mean 0 over the surrogate, from f at the points, (m, ...)."""
        return np.asarray(np.tensordot(self.missing, np.abs(values), axes=1))

    def joined(self, other: "Tails") -> "Tails":
        """The points of both."""
        return Tails(np.concatenate((self.points, other.points)), np.concatenate((self.missing, other.missing)))


def no_tails(dim: int) -> Tails:
    """Nothing known to be missing."""
    return Tails(np.zeros((0, dim)), np.zeros(0))


def expected_tails(paths: Paths, posterior: SurrogatePosterior, tuning: TailChecks, *, variances: Array) -> Tails:
    """What a surrogate may miss at tempered draws, before any exact value there.

    Where the variance s^2 of U - V is large, a draw's weight times E[exp(V - U) - 1] = exp(s^2 / 2) - 1; near the wall,
    beyond which the surrogate only extrapolates, its whole weight.

    Parameters
    ----------
    variances
        Of U - V there, (m,): those of the process times their `doubt`.
    """
    norms, walls = posterior.walls(posterior.whitening.whiten(paths.points))
    at_wall = norms > walls - tuning.edge
    least = max(tuning.blind**2, tuning.unusual**2 * float(paths.weights @ variances))
    expected = np.where(variances > least, np.expm1(np.minimum(0.5 * variances, tuning.highest)), 0.0)
    return Tails(paths.points, paths.weights * np.maximum(at_wall, expected))


def surprises(posterior: SurrogatePosterior, x: Array, values: Array) -> Array:
    """(U - V) / s at plausible points among the rows of x, s^2 the variance of U - V by the process: shape (k,)."""
    usable = values < posterior.offset + posterior.tuning.plausible_height(posterior.dim)
    if not usable.any():
        return np.zeros(0)
    z = posterior.whitening.whiten(x[usable])
    spread = np.sqrt(np.maximum(posterior.covariance(z).diagonal(), 0.0) + posterior.kernel.noise**2)
    return np.asarray((values[usable] - posterior.values(x[usable])) / np.maximum(spread, np.finfo(float).tiny))


def doubt(surprised: Sequence[Array], *, believed: float | None = None) -> float:
    """Twice the mean over all points of the squared `surprises` where U is below V, and at least 1.

    A potential above the surrogate, as behind a cliff, is no reason to look for more mass.

    Parameters
    ----------
    believed
        Number of surprises of mean square 1 that are counted besides, where it may be less than 1; None: it may not.
    """
    below = np.minimum(np.concatenate((*surprised, np.zeros(0))), 0.0)
    if believed is not None:
        return float((2.0 * (below**2).sum() + believed) / (len(below) + believed))
    return max(1.0, 2.0 * float((below**2).mean())) if len(below) else 1.0


def missed(
    tails: Tails,
    paths: Paths,
    posterior: SurrogatePosterior,
    rng: np.random.Generator,
    tuning: TailChecks,
    *,
    aim: float,
    most: int,
) -> Array:
    """Points within reach, (k, d), at which a part of a mean or variance is missing; none if that part is small.

    Small is relative to the error of ``aim`` independent draws. There are at most ``most``.
    """
    near = np.linalg.norm(posterior.whitening.whiten(tails.points), axis=1) < posterior.reach
    parts = (near * tails.missing)[:, None] * np.abs(standardised_moments(paths, tails.points))
    if (parts.sum(axis=0) <= tuning.small / np.sqrt(aim)).all():
        return np.zeros((0, tails.points.shape[1]))
    influence = parts.max(axis=1)
    count = min(most, np.count_nonzero(influence))
    return np.asarray(tails.points[rng.choice(len(parts), count, replace=False, p=influence / influence.sum())])


def standardised_moments(paths: Paths, x: Array) -> Array:
    """Coordinates and their squares at the rows of x, (m, 2 d), of mean 0 and variance 1 over the surrogate."""
    # Truncated weights (Ionides 2008), the rest spread evenly: one draw in a hole far out must not be all there is.
    weights = np.minimum(paths.weights, len(paths.weights) ** -0.5)
    weights += (1.0 - weights.sum()) / len(weights)
    functions = np.column_stack((paths.points, (paths.points - weights @ paths.points) ** 2))
    mean = weights @ functions
    spread = np.sqrt(weights @ (functions - mean) ** 2)
    dim = x.shape[1]
    return np.asarray((np.column_stack((x, (x - mean[:dim]) ** 2)) - mean) / spread)
