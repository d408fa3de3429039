"""A subset of a regression has distinct rows of the same data, and is marked as a subset."""

import numpy as np
import pytest

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.subset import random_rows
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.types import Origin

N = 300


def data(origin: Origin = "real") -> LogisticData:
    X = np.column_stack((np.arange(N, dtype=float), stream(1, "rows").standard_normal(N)))
    return LogisticData(X, (np.arange(N) % 2).astype(np.uint8), origin, ("row", "x"))


def test_the_rows_are_distinct_rows_of_the_data_in_their_order() -> None:
    whole, some = data(), random_rows(data(), 100, stream(1, "subset"))
    kept = some.X[:, 0].astype(int)
    assert (np.diff(kept) > 0).all()
    np.testing.assert_array_equal(some.X, whole.X[kept])
    np.testing.assert_array_equal(some.y, whole.y[kept])
    assert some.columns == whole.columns


def test_every_row_is_as_likely_as_every_other() -> None:
    counts = np.zeros(N)
    repeats = 400
    for k in range(repeats):
        counts[random_rows(data(), N // 3, stream(1, "subset", str(k))).X[:, 0].astype(int)] += 1
    # The largest of 300 binomial counts: a right program is further out once in a million.
    z = (counts - repeats / 3) / np.sqrt(repeats * (1 / 3) * (2 / 3))
    assert np.abs(z).max() < 6.0


@pytest.mark.parametrize(
    ("whole", "some"), [("real", "subset"), ("simulated", "subset"), ("stand-in", "stand-in"), ("subset", "subset")]
)
def test_a_subset_is_never_taken_for_the_whole(whole: Origin, some: Origin) -> None:
    assert random_rows(data(whole), 50, stream(1, "subset")).origin == some


@pytest.mark.parametrize("rows", [0, -1, N + 1])
def test_more_rows_than_there_are_is_an_error(rows: int) -> None:
    with pytest.raises(ParameterError, match=f"rows: {rows} requested, but the data have only {N}"):
        random_rows(data(), rows, stream(1, "subset"))
