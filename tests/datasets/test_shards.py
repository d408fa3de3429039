"""Rows made in blocks do not depend on the number of ranks, and follow the law of paper A, section 5.1."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, kstest

from rnshmc.datasets.shards import BLOCK_ROWS, shard_coefficients, simulate_shard
from rnshmc.errors import ParameterError

N, D = 3 * BLOCK_ROWS - 5, 4


@pytest.mark.parametrize("size", [2, 3])
def test_the_shards_are_the_whole(size: int) -> None:
    X, y = simulate_shard(N, D, seed=1, rank=0, size=1)
    shards = [simulate_shard(N, D, seed=1, rank=rank, size=size) for rank in range(size)]
    assert X.shape == (N, D)
    np.testing.assert_array_equal(np.concatenate([shard[0] for shard in shards]), X)
    np.testing.assert_array_equal(np.concatenate([shard[1] for shard in shards]), y)
    assert max(len(shard[1]) for shard in shards) - min(len(shard[1]) for shard in shards) <= BLOCK_ROWS


def test_the_rows_follow_the_law() -> None:
    """Covariates are a constant and normal; the score at the true coefficients is asymptotically normal."""
    X, y = simulate_shard(N, D, seed=2, rank=0, size=1)
    np.testing.assert_array_equal(X[:, 0], 0.1)
    assert kstest(10 * X[:, 1:].ravel(), "norm").pvalue > 1e-6
    p = expit(X @ shard_coefficients(D, 2))
    score, information = X.T @ (y - p), (X * (p * (1 - p))[:, None]).T @ X
    # Chi-square with D degrees of freedom.
    assert score @ np.linalg.solve(information, score) < chi2(D).isf(1e-6)


def test_blocks_and_seeds_differ() -> None:
    X, _ = simulate_shard(2 * BLOCK_ROWS, D, seed=1, rank=0, size=1)
    other, _ = simulate_shard(2 * BLOCK_ROWS, D, seed=2, rank=0, size=1)
    assert (X[:BLOCK_ROWS, 1] != X[BLOCK_ROWS:, 1]).all()
    assert (X[:, 1] != other[:, 1]).all()


def test_sizes_out_of_range_are_named() -> None:
    with pytest.raises(ParameterError, match="n = 0, d = 4"):
        simulate_shard(0, D, seed=1, rank=0, size=1)
    with pytest.raises(ParameterError, match="n = 100 rows cannot be shared out over 2 ranks"):
        simulate_shard(100, D, seed=1, rank=0, size=2)
