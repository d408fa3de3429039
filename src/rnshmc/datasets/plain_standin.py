"""Stand-ins for data of which only the size is known."""

import numpy as np

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.simulate import draw_labels


def plain_standin(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Simulate data of n rows and d columns, without summary statistics of the real data.

    We assume independent standard normal covariates; coefficients from N(0, 1/d), so that the log odds have a variance
    of about 1; and no intercept, so that about half of the labels are 1. Unlike a stand-in from summary statistics, it
    shares only its size with the real data: results on it carry over to them only for the cost of an evaluation.

    Parameters
    ----------
    n, d
        Rows and columns of the real data.
    rng
        Generator of all draws.

    Returns
    -------
    LogisticData
        Shape (n, d), of origin "stand-in".
    """
    X = rng.standard_normal((n, d))
    y = draw_labels(X, rng.standard_normal(d) / np.sqrt(d), rng)
    return LogisticData(X, y, "stand-in", tuple(f"x{k}" for k in range(1, d + 1)))
