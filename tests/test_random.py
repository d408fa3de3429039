"""Streams: named, reproducible, independent."""

import numpy as np

from rnshmc.random import stream
from tests.conftest import z_bound


def test_equal_names_give_equal_streams() -> None:
    a, b = stream(7, "bank", "chain1"), stream(7, "bank", "chain1")
    np.testing.assert_array_equal(a.random(10), b.random(10))


def test_streams_are_fixed_across_versions() -> None:
    # The first words of one stream, as they came out when streams were defined: results on disk depend on them.
    assert stream(7, "bank", "chain1").integers(0, 2**32, size=3).tolist() == FIRST_WORDS


def test_any_difference_gives_another_stream() -> None:
    different = [
        (7, ("bank", "chain1")),
        (8, ("bank", "chain1")),
        (7, ("bank", "chain2")),
        (7, ("bankchain1",)),
        (7, ("bank",)),
    ]
    first = {stream(seed, *names).random() for seed, names in different}
    assert len(first) == len(different)


def test_neighbouring_streams_are_uncorrelated() -> None:
    n = 20000
    a, b = stream(1, "chain1").normal(size=n), stream(1, "chain2").normal(size=n)
    assert abs(np.corrcoef(a, b)[0, 1]) < z_bound() / np.sqrt(n)


FIRST_WORDS = [3520376858, 589631226, 1144950293]
