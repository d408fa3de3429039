"""What a surrogate may miss, by the process that it is the mean of: posteriors that the training points leave open."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_tempered, reach, temperature
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

CHAINS, SETTLE, EVERY, TIMES = 128, 20, 10, 4
"""Positions are the states of so many tempered chains at so many times, after they have settled."""
PATHS = 400
MOST_OPEN = 8
"""Points that are added at a time where a surrogate leaves too much open."""
NORMAL, WIDTH = (0.025, 0.5, 0.975), 2.0 * float(ndtri(0.975))
"""Quantiles, and how far apart the outer ones are in standard deviations of a normal law."""


@dataclass(frozen=True, eq=False)
class Paths:
    """Densities exp(-V - e) at positions out to the shoulders, with e drawn from the process of U - V.

    Attributes
    ----------
    points
        Tempered draws of the surrogate in x, shape (m, d): a standard deviation further out than its own.
    weights
        With which they stand for the surrogate posterior, of sum 1, (m,).
    by_path
        With which they stand for each of the densities, rows of sum 1, (paths, m).
    """

    points: Array
    weights: Array
    by_path: Array

    def shift(self, values: Array) -> tuple[Array, Array, Array]:
        """What the paths say of E_U f - E_V f, for functions of mean 0 over the surrogate.

        Parameters
        ----------
        values
            f at the points, shape (m,) or (m, k).

        Returns
        -------
        tuple of Array
            Its median; its variance, by the central 95%, for ratios of densities have long tails; and the variance of
            (w - 1) f over draws of the surrogate, w their importance weight, which draws that came upon no tail hide.
        """
        low, middle, high = np.quantile(self.by_path @ values, NORMAL, axis=0)
        squared = (self.weights * (values**2).T).T
        excess = (self.by_path / self.weights - 1.0) ** 2 @ squared
        return middle - self.weights @ values, ((high - low) / WIDTH) ** 2, np.median(excess, axis=0)

    @property
    def open_share(self) -> float:
        """Share of the posterior's mass that the points leave open: mean total variation from the surrogate."""
        return float(0.5 * np.abs(self.by_path - self.weights).sum(axis=1).mean())


def draw_paths(
    posterior: SurrogatePosterior, positions: Array, checked: Array, differences: Array, rng: np.random.Generator
) -> Paths:
    """Posteriors that the training points leave open.

    The variance of the process is raised to what differences show, where that is more.

    Parameters
    ----------
    positions
        Whitened positions of chains of the surrogate, (chains, d).
    checked, differences
        Draws of the surrogate in x that it was not fitted to, (n, d), and U - V there, (n,); not finite where the
        density is 0.

    Raises
    ------
    FitError
        If the covariance of the process cannot be factored.
    """
    start = positions[rng.choice(len(positions), CHAINS)]
    draws, tempered = draw_tempered(posterior, start, transitions=SETTLE + EVERY * TIMES, rng=rng)
    z = draws[:, SETTLE + EVERY - 1 :: EVERY].reshape(-1, posterior.dim)
    colder = (1.0 - temperature(posterior.dim)) * tempered[:, SETTLE + EVERY - 1 :: EVERY].ravel()
    finite = np.isfinite(differences)
    both = posterior.covariance(np.concatenate((z, posterior.whitening.whiten(checked[finite]))))
    inflation = _inflation(both.diagonal()[len(z) :] + posterior.kernel.noise**2, differences[finite])
    variances, directions = np.linalg.eigh(inflation * both[: len(z), : len(z)])
    errors = rng.standard_normal((PATHS, len(z))) * np.sqrt(np.maximum(variances, 0.0)) @ directions.T
    return Paths(posterior.whitening.unwhiten(z), _normalised(colder), _normalised(colder - errors))


def open_points(paths: Paths, whitening: Whitening, *, checks: int, aim: float, rng: np.random.Generator) -> Array:
    """Points within reach, (k, d), at which exact values would tell most; none where moments are known well enough.

    That is where, with so many checks, standard errors would be those of ``aim`` independent normal draws in every
    whitened coordinate.
    """
    z = whitening.whiten(paths.points)
    mean = paths.weights @ z
    variance = paths.weights @ (z - mean) ** 2
    functions = np.column_stack(((z - mean) / np.sqrt(variance), ((z - mean) ** 2 / variance - 1.0) / np.sqrt(2.0)))
    _, spread, excess = paths.shift(functions)
    errors = spread * excess / np.maximum(checks * spread + excess, np.finfo(float).tiny)
    if errors.max() * aim <= 1.0:
        return np.zeros((0, z.shape[1]))
    influence = paths.by_path.std(axis=0) * np.abs(functions[:, errors * aim > 1.0]).max(axis=1)
    influence *= np.linalg.norm(z, axis=1) < reach(z.shape[1])
    if not influence.any():
        return np.zeros((0, z.shape[1]))
    # At random, for the largest few are neighbours of one another.
    count = min(MOST_OPEN, np.count_nonzero(influence))
    chosen = rng.choice(len(z), count, replace=False, p=influence / influence.sum())
    return np.asarray(paths.points[chosen])


def _inflation(variances: Array, differences: Array) -> float:
    """Mean square of the differences over what the process expects, at least 1."""
    if len(differences) < 2:
        return 1.0
    return max(1.0, float(differences.var(ddof=1) / variances.mean()))


def _normalised(logarithms: Array) -> Array:
    weights = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
