"""Posterior predictions of a Gaussian process regression along a direction (paper B, Fig. 8)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtri

from rnshmc.targets.gp_regression import GPRegression
from rnshmc.types import Array

ENDS = (-3.0, 3.0)
"""Ends of the line, in standard deviations of the inputs."""
POINTS = 61
MAX_DRAWS = 100
"""Maximum number of draws of each sampler for averaging predictions: each costs a factorisation."""
BAND = 0.9
"""Posterior probability of the band, at each point."""


def predictions(target: GPRegression, draws: Mapping[str, Array], *, inputs: int) -> pd.DataFrame:
    """Predict the process along the first input, with the others 0, averaged over draws of its hyperparameters.

    Given a draw the process is Gaussian. Mean and variance of the mixture over the draws follow from theirs (the law of
    total variance), and the band is that of a Gaussian with these two. Columns sampler, x, mean, low, high, from_hmc:
    the last is the largest distance, over all x, of a sampler's means from those of HMC, in half widths of HMC's band.
    Draws of (log l, log sigma^2), shape (n, 2), are those of each sampler; at most `MAX_DRAWS` of them, evenly spaced,
    are used. Raises `NumericalError` if the process cannot be predicted at a draw.
    """
    x = np.linspace(*ENDS, POINTS)
    points = np.zeros((POINTS, inputs))
    points[:, 0] = x
    parts = []
    for sampler, sample in draws.items():
        mean, sd = _mixture(target, sample[:: -(-len(sample) // MAX_DRAWS)], points)
        half = float(ndtri(0.5 + 0.5 * BAND)) * sd
        parts.append(pd.DataFrame({"sampler": sampler, "x": x, "mean": mean, "low": mean - half, "high": mean + half}))
    table = pd.concat(parts, ignore_index=True)
    of = {sampler: part.set_index("x") for sampler, part in table.groupby("sampler")}
    half_width = (of["hmc"]["high"] - of["hmc"]["low"]) / 2
    furthest = {
        sampler: float(((part["mean"] - of["hmc"]["mean"]).abs() / half_width).max()) for sampler, part in of.items()
    }
    return table.assign(from_hmc=table["sampler"].map(furthest))


def _mixture(target: GPRegression, draws: Array, points: Array) -> tuple[Array, Array]:
    """Mean and standard deviation at each point over the draws."""
    found = [target.predict(q, points) for q in draws]
    means = np.array([mean for mean, _ in found])
    variances = np.array([np.diagonal(covariance) for _, covariance in found])
    # Rounding can make the variance at an observed point negative.
    return means.mean(axis=0), np.sqrt(np.maximum(variances.mean(axis=0) + means.var(axis=0), 0.0))
