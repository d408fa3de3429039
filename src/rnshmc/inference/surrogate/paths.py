"""Posteriors drawn from the Gaussian process given the training points: what a surrogate may miss."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from rnshmc.errors import FitError
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_tempered, temperature
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Process
from rnshmc.types import Array

NORMAL, WIDTH = (0.025, 0.5, 0.975), 2.0 * float(ndtri(0.975))
"""Quantiles, and how far apart the outer ones are in standard deviations of a normal law."""


@dataclass(frozen=True, eq=False)
class Paths:
    """Densities exp(-V - e) at tempered draws, with e drawn from the process of U - V.

    Attributes
    ----------
    points
        Tempered draws of the surrogate in x, shape (m, d): a standard deviation further out than its own.
    weights
        Importance weights of the surrogate posterior there, of sum 1, (m,).
    by_path
        Importance weights of each density there, rows of sum 1, (paths, m).
    """

    points: Array
    weights: Array
    by_path: Array

    def shift(self, values: Array, base: Array | None = None) -> tuple[Array, Array, Array]:
        """The law of E_U f - E_V f over the paths, for functions of mean 0 over the surrogate.

        Parameters
        ----------
        values
            f at the points, shape (m,) or (m, k).
        base
            Importance weights there of what exact values are at, to the surrogate, (m,); None: at its own draws.

        Returns
        -------
        tuple of Array
            Its median; its variance, by the central 95%, for ratios of densities have long tails; and the expected
            variance of (w - 1) f over what exact values are at, w the importance weight. A sample of draws without one
            in the tail shows a smaller one.
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

    The variance of the process is raised to what differences show, where that is more, but not in what is returned.

    Parameters
    ----------
    positions
        Whitened positions of chains of the surrogate, (chains, d).
    checked, differences
        Draws of the surrogate in x that it was not fitted to, (n, d), and U - V there, (n,), not finite where the
        density is 0; None: none.
    doubt
        Factor on the variance of the process.

    Raises
    ------
    FitError
        If the covariance of the process cannot be factored, or chains of the surrogate are all at one point.
    """
    start = positions[rng.choice(len(positions), tuning.chains)]
    transitions = tuning.settle + tuning.every * tuning.times
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
    paths = Paths(posterior.whitening.unwhiten(z), _normalised(colder), _normalised(colder - errors))
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
    """Points (k, d), at most ``most``, whose exact values would tell most; none where moments are known well enough.

    Moments are known well enough where, after so many checks, standard errors would be those of ``aim`` independent
    normal draws in every whitened coordinate. Points are no farther from the centre than ``reach``.
    """
    z = whitening.whiten(paths.points)
    mean = paths.weights @ z
    # Where one draw has all the weight, as in a hole of the surrogate, the spread of the draws stands in.
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
    count = min(most, np.count_nonzero(influence))
    chosen = rng.choice(len(z), count, replace=False, p=influence / influence.sum())
    return np.asarray(paths.points[chosen])


def inflation(variances: Array, differences: Array) -> float:
    """Variance of the differences over the mean variance of the process, at least 1."""
    if len(differences) < 2:
        return 1.0
    return max(1.0, float(differences.var(ddof=1) / variances.mean()))


def _normalised(logarithms: Array) -> Array:
    weights = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
