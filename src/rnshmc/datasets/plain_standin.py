"""Stand-ins for data of which nothing is known but their size."""

import numpy as np

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.simulate import draw_labels


def plain_standin(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Simulate data of n rows and d columns, where no summary statistics of the real ones are at hand.

    Nothing else is known, so we assume independent standard normal covariates; coefficients from N(0, 1/d), so that
    the log odds have a variance of about 1; no intercept, so that about half of the labels are 1. Unlike a stand-in
    from summary statistics it shares nothing with the real data but its size: no result on it tells anything about
    these, other than what an evaluation costs.
    """
    X = rng.standard_normal((n, d))
    y = draw_labels(X, rng.standard_normal(d) / np.sqrt(d), rng)
    return LogisticData(X, y, "stand-in", tuple(f"x{k}" for k in range(1, d + 1)))
