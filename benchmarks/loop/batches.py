"""Batches of exact evaluations at draws of a surrogate, which check it before it learns them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from loop.cloud import Cloud
from loop.posterior import SurrogatePosterior
from loop.tuning import Learning

from rnshmc.inference.exact.archive import Archive
from rnshmc.types import Array

STAGE = "learning"


@dataclass(frozen=True, eq=False)
class Batch:
    """Draws of a surrogate that were evaluated before they were learnt.

    Attributes
    ----------
    points, values, differences
        x (k, d), U (k,), and U - V (k,); not finite where the density is zero.
    failed
        Where the evaluation failed, (k,).
    standardised
        Differences less their mean, in units of their standard deviation by the process, (k,); NaN where not finite.
    tempered
        Which are draws at a temperature above one, (k,).
    """

    points: Array
    values: Array
    differences: Array
    failed: npt.NDArray[np.bool_]
    standardised: Array
    tempered: npt.NDArray[np.bool_]

    @property
    def of_surrogate(self) -> Array:
        """Differences at draws that are not tempered and did not fail."""
        return self.differences[~self.tempered & ~self.failed]


def evaluated(
    archive: Archive,
    posterior: SurrogatePosterior,
    pools: Array,
    cloud: Cloud,
    rng: np.random.Generator,
    tuning: Learning,
    *,
    opened: bool,
) -> Batch:
    """A batch of draws of a surrogate, tempered ones, and some where the errors of moments come from.

    Parameters
    ----------
    pools
        Whitened draws at each temperature, (temperatures, chains, n, d).
    cloud
        Them with weights, and the law of the error.
    opened
        Whether that law is known yet.
    """
    own, dim = tuning, archive.dim
    size = max(own.batch, posterior.kernel.points // own.share)
    hot = len(pools) - 1
    tempered = max(hot, round(0.5 * size * min(1.0, own.shoulders / dim)))
    counts = [size - tempered, *(len(part) for part in np.array_split(np.arange(tempered), hot))]
    chosen = sum(counts[1:]) // 2 if opened else 0
    counts[-1] -= chosen // 2
    counts[1] -= chosen - chosen // 2
    each = zip(pools.reshape(hot + 1, -1, dim), counts, strict=True)
    z = np.concatenate(
        [*(_some(pool, count, posterior.radius, rng) for pool, count in each), _open(posterior, cloud, chosen, rng)]
    )
    x = posterior.whitening.unwhiten(z)
    found = archive.evaluate(x, STAGE)
    values = np.array([one.value for one in found])
    with np.errstate(invalid="ignore"):
        differences = values - posterior.values(x)
    variances = posterior.covariance(z).diagonal() + posterior.kernel.noise**2
    scale = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    finite = np.isfinite(differences)
    standardised = np.full(size, np.nan)
    if finite.any():
        # The level of V is of no importance: residuals are relative to the mean by their precision.
        precision = scale[finite] ** -2.0
        mean = float(precision @ differences[finite] / precision.sum())
        standardised[finite] = (differences[finite] - mean) / scale[finite]
    return Batch(
        x,
        values,
        differences,
        np.array([one.failure is not None for one in found]),
        standardised,
        np.arange(size) >= counts[0],
    )


def _open(posterior: SurrogatePosterior, cloud: Cloud, count: int, rng: np.random.Generator) -> Array:
    """Whitened draws (count, d) at random in proportion to what their errors contribute to that of a moment."""
    contributed = cloud.contributions()
    z = posterior.whitening.whiten(cloud.points[cloud.members])
    chosen = rng.choice(len(z), count, replace=False, p=contributed / contributed.sum()) if count else np.zeros(0, int)
    norms = np.maximum(np.linalg.norm(z[chosen], axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(z[chosen] * np.minimum(1.0, posterior.radius / norms))


def _some(pool: Array, count: int, radius: float, rng: np.random.Generator) -> Array:
    """Draws (count, d) at random; those beyond the wall are moved to it, where V beyond it is decided."""
    chosen = pool[rng.choice(len(pool), count, replace=False)]
    norms = np.linalg.norm(chosen, axis=1, keepdims=True)
    return np.asarray(chosen * np.minimum(1.0, radius / np.maximum(norms, np.finfo(float).tiny)))
