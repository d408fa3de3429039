"""Distributed simulated data for logistic regression: rows in blocks, each with its own random stream."""

import numpy as np

from rnshmc.datasets.matrix import Labels
from rnshmc.datasets.simulate import draw_labels
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.types import Array

BLOCK_ROWS = 8192
"""Rows per random stream. Another number gives other data."""


def simulate_shard(n: int, d: int, *, seed: int, rank: int, size: int) -> tuple[Array, Labels]:
    """Simulate one rank's rows of a data set with n observations of d covariates, as in paper A, section 5.1.

    Block b of `BLOCK_ROWS` rows is drawn by ``stream(seed, "shards", "block", str(b))``, and each rank makes a run of
    whole blocks. So the ranks' rows put one below the other are the same data for any number of ranks. ``d`` counts the
    constant column. X is as in `rnshmc.datasets.simulate.simulate_logistic`: a constant 0.1, then entries from N(0,
    1/100). Labels y are from Bernoulli(1 / (1 + exp(-X beta))), with beta from `shard_coefficients`. Raises
    `ParameterError` if a size is too small, or there are fewer blocks than ranks.
    """
    if n < 1 or d < 1:
        raise ParameterError(f"sizes are n = {n}, d = {d}, expected n >= 1 and d >= 1")
    blocks = -(-n // BLOCK_ROWS)
    if blocks < size:
        raise ParameterError(f"n = {n} rows cannot be shared out over {size} ranks in blocks of {BLOCK_ROWS}")
    first, last = (blocks * edge // size for edge in (rank, rank + 1))
    start, stop = first * BLOCK_ROWS, min(last * BLOCK_ROWS, n)
    beta = shard_coefficients(d, seed)
    X, y = np.full((stop - start, d), 0.1), np.empty(stop - start, dtype=np.uint8)
    for block in range(first, last):
        rng = stream(seed, "shards", "block", str(block))
        rows = slice(block * BLOCK_ROWS - start, min((block + 1) * BLOCK_ROWS, stop) - start)
        X[rows, 1:] *= rng.standard_normal((len(y[rows]), d - 1))
        y[rows] = draw_labels(X[rows], beta, rng)
    return X, y


def shard_coefficients(d: int, seed: int) -> Array:
    """Coefficients of the label model, uniform on [0, 1]^d, drawn by ``stream(seed, "shards", "coefficients")``."""
    return stream(seed, "shards", "coefficients").uniform(size=d)
