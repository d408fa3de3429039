"""Uncertainty of a surrogate: posteriors drawn from its Gaussian process, and its tails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, softmax

from rnshmc.errors import FitError
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_tempered, temperature
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Process, TailChecks
from rnshmc.inference.tuning_shared import ROUNDS, SURPRISE
from rnshmc.types import Array

NORMAL, WIDTH = (0.025, 0.5, 0.975), 2.0 * float(ndtri(0.975))
"""Quantiles, and how far apart the outer ones are in standard deviations of a normal law."""


@dataclass(frozen=True, eq=False)
class Paths:
    """Densities exp(-V - e) at tempered draws, with e drawn from the process of U - V."""

    points: Array
    """Tempered draws of the surrogate in x, shape (m, d): a standard deviation further out than its own."""
    weights: Array
    """Importance weights of the surrogate posterior there, of sum 1, (m,)."""
    by_path: Array
    """Importance weights of each density there, rows of sum 1, (paths, m)."""

    def shift(self, values: Array, base: Array | None = None) -> tuple[Array, Array, Array]:
        """The law of E_U f - E_V f over the paths, for functions of mean 0 over the surrogate.

        Its median; its variance, by the central 95%, for ratios of densities have long tails; and the expected variance
        of (w - 1) f over the points with exact values, w the importance weight. A sample of draws without one in the
        tail shows a smaller one.

        Parameters
        ----------
        values
            f at the points, shape (m,) or (m, k).
        base
            Importance weights there, (m,), from the density of the points with exact values to the surrogate; None:
            these are its own draws.
        """
        low, middle, high = np.quantile(self.by_path @ values, NORMAL, axis=0)
        drawn_at = self.weights if base is None else self.weights * base
        squared = (drawn_at * (values**2).T).T
        # Where a weight is zero, or its inverse squared overflows, no draw of the surrogate is.
        drawn = self.weights > np.finfo(float).eps ** 2
        ratios = np.divide(self.by_path, self.weights, out=np.ones(self.by_path.shape), where=drawn)
        excess = (ratios - 1.0) ** 2 @ squared
        return middle - self.weights @ values, ((high - low) / WIDTH) ** 2, np.median(excess, axis=0)

    @property
    def expected_variance(self) -> float:
        """Variance of the importance weights of the surrogate's draws over their squared mean: the paths' median."""
        return float(self.shift(np.ones(len(self.weights)))[2])

    @property
    def open_share(self) -> float:
        """Mean total variation distance between the paths and the surrogate."""
        return float(0.5 * np.abs(self.by_path - self.weights).sum(axis=1).mean())

    def standardised_moments(self, x: Array) -> Array:
        """Coordinates and their squares at the rows of x, (k, 2 d), of mean 0 and variance 1 over the surrogate."""
        # Truncated weights (Ionides 2008), the rest spread evenly: one draw in a hole far out must not be all there is.
        weights = np.minimum(self.weights, len(self.weights) ** -0.5)
        weights += (1.0 - weights.sum()) / len(weights)
        functions = np.column_stack((self.points, (self.points - weights @ self.points) ** 2))
        mean = weights @ functions
        spread = np.sqrt(weights @ (functions - mean) ** 2)
        dim = x.shape[1]
        return np.asarray((np.column_stack((x, (x - mean[:dim]) ** 2)) - mean) / spread)


def draw_paths(
    posterior: SurrogatePosterior,
    positions: Array,
    rng: np.random.Generator,
    tuning: Process,
    *,
    checked: Array | None = None,
    differences: Array | None = None,
    doubt: float = 1.0,
) -> tuple[Paths, Array]:
    """Posteriors drawn from the process given the training points, and its variances at their points, (m,).

    The points are tempered draws of chains that begin at whitened positions of chains of the surrogate, (chains, d).
    The variance of the process is multiplied by ``doubt`` and raised, if that is larger, to the variance of the
    differences U - V, (n,), at draws in x that it was not fitted to, ``checked``, (n, d); but not in the variances
    returned. Raises LinAlgError if the covariance of the process cannot be factored, and FitError if all chains are
    at one point.
    """
    start = positions[rng.choice(len(positions), tuning.chains)]
    transitions = tuning.settle + tuning.every * ROUNDS
    draws, tempered = draw_tempered(posterior, start, transitions=transitions, rng=rng)
    taken = slice(tuning.settle + tuning.every - 1, None, tuning.every)
    z = draws[:, taken].reshape(-1, posterior.dim)
    if not np.ptp(z, axis=0).all():
        raise FitError("the surrogate's chains are at one point")
    colder = (1.0 - temperature(posterior.dim)) * tempered[:, taken].ravel()
    if checked is None or differences is None:
        checked, differences = np.zeros((0, posterior.dim)), np.zeros(0)
    finite = np.isfinite(differences)
    both = posterior.covariance(np.concatenate((z, posterior.whitening.whiten(checked[finite]))))
    factor = doubt * inflation(both.diagonal()[len(z) :] + posterior.kernel.noise**2, differences[finite])
    variances, directions = np.linalg.eigh(factor * both[: len(z), : len(z)])
    errors = rng.standard_normal((tuning.paths, len(z))) * np.sqrt(np.maximum(variances, 0.0)) @ directions.T
    paths = Paths(posterior.whitening.unwhiten(z), softmax(colder), softmax(colder - errors, axis=1))
    return paths, both.diagonal()[: len(z)]


def open_points(
    paths: Paths,
    whitening: Whitening,
    rng: np.random.Generator,
    *,
    checks: int,
    aim: float,
    reach: float,
    most: int,
) -> Array:
    """Points (k, d), at most ``most``, whose exact values are most informative; none where moments are known.

    Moments are known well enough where, after so many checks, standard errors would be those of ``aim`` independent
    normal draws in every whitened coordinate. Points are no farther from the centre than ``reach``.
    """
    z = whitening.whiten(paths.points)
    mean = paths.weights @ z
    # Where one draw has all the weight, as in a hole of the surrogate, the spread of the draws is used.
    variance = np.maximum(paths.weights @ (z - mean) ** 2, np.finfo(float).eps * z.var(axis=0))
    functions = np.column_stack(((z - mean) / np.sqrt(variance), ((z - mean) ** 2 / variance - 1.0) / np.sqrt(2.0)))
    _, spread, excess = paths.shift(functions)
    errors = spread * excess / np.maximum(checks * spread + excess, np.finfo(float).tiny)
    if errors.max() * aim <= 1.0:
        return np.zeros((0, z.shape[1]))
    influence = paths.by_path.std(axis=0) * np.abs(functions[:, errors * aim > 1.0]).max(axis=1)
    influence *= np.linalg.norm(z, axis=1) < reach
    if not influence.any():
        return np.zeros((0, z.shape[1]))
    # At random: the points of largest influence are neighbours.
    return _chosen(paths.points, influence, rng, most)


@dataclass(frozen=True, eq=False)
class Tails:
    """Mass that a surrogate may lack, or is seen to lack, at points."""

    points: Array
    """In x, shape (m, d)."""
    missing: Array
    """Mass that the surrogate lacks there, or has in excess, relative to all of its mass, shape (m,); not negative."""

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
    """Mass that a surrogate may lack at tempered draws, before any exact value there.

    Where the variance s^2 of U - V is large, a draw's weight times E[exp(V - U) - 1] = exp(s^2 / 2) - 1; near the wall,
    beyond which the surrogate only extrapolates, its whole weight. ``variances`` are those by the process and its
    `doubt`, (m,).
    """
    norms, walls = posterior.walls(posterior.whitening.whiten(paths.points))
    at_wall = norms > walls - posterior.tuning.wall_margin
    least = max(tuning.gross**2, SURPRISE**2 * float(paths.weights @ variances))
    expected = np.where(variances > least, np.expm1(np.minimum(0.5 * variances, posterior.tuning.plausible)), 0.0)
    return Tails(paths.points, paths.weights * np.maximum(at_wall, expected))


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
    parts = (near * tails.missing)[:, None] * np.abs(paths.standardised_moments(tails.points))
    if (parts.sum(axis=0) <= tuning.small / np.sqrt(aim)).all():
        return np.zeros((0, tails.points.shape[1]))
    return _chosen(tails.points, parts.max(axis=1), rng, most)


def _chosen(points: Array, influence: Array, rng: np.random.Generator, most: int) -> Array:
    """At most so many rows, drawn in proportion to their influence."""
    count = min(most, np.count_nonzero(influence))
    return np.asarray(points[rng.choice(len(points), count, replace=False, p=influence / influence.sum())])


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

    A potential above the surrogate, as behind a cliff, does not indicate more mass. So many surprises of mean square 1
    as are ``believed`` are counted as well; the result may be below 1 then.
    """
    below = np.minimum(np.concatenate((*surprised, np.zeros(0))), 0.0)
    if believed is not None:
        return float((2.0 * (below**2).sum() + believed) / (len(below) + believed))
    return max(1.0, 2.0 * float((below**2).mean())) if len(below) else 1.0


def inflation(variances: Array, differences: Array) -> float:
    """Variance of the differences over the mean variance of the process, at least 1."""
    if len(differences) < 2:
        return 1.0
    return max(1.0, float(differences.var(ddof=1) / variances.mean()))
