"""Work distributed over ranks keeps its order and fails on all together. tests/mpi uses real ranks."""

from typing import Any

import numpy as np
import pytest

from rnshmc.errors import NumericalError, RnshmcError
from rnshmc.targets.ensemble import map_over_ranks, together


class Rank:
    """One of several ranks, with what the others would send."""

    def __init__(self, rank: int, size: int, others: list[Any], messages: list[str | None] | None = None) -> None:
        self.rank, self.size = rank, size
        self._others = others
        self._messages = messages or [None] * (size - 1)

    def allgather(self, message: str | None) -> list[str | None]:
        return [*self._messages[: self.rank], message, *self._messages[self.rank :]]

    def gather(self, hand: list[Any], root: int) -> list[Any] | None:
        return [hand, *self._others] if self.rank == root else None


def test_results_come_back_in_the_order_of_the_items() -> None:
    comm = Rank(0, 3, others=[[1.0, 16.0], [4.0]])
    results = map_over_ranks(comm, lambda x: x**2, [0.0, 1.0, 2.0, 3.0, 4.0])
    assert results is not None
    np.testing.assert_array_equal(results, [0, 1, 4, 9, 16])


def test_each_rank_evaluates_its_items_alone() -> None:
    asked: list[int] = []
    assert map_over_ranks(Rank(1, 3, others=[]), asked.append, range(8)) is None
    assert asked == [1, 4, 7]


def test_there_may_be_more_ranks_than_items() -> None:
    results = map_over_ranks(Rank(0, 3, others=[[], []]), lambda x: np.array([x, -x]), [2.0])
    assert results is not None
    np.testing.assert_array_equal(results, [[2.0, -2.0]])


def test_an_error_here_is_raised_here() -> None:
    def fail(_: float) -> float:
        raise NumericalError("no")

    with pytest.raises(NumericalError, match=r"^no$"):
        map_over_ranks(Rank(0, 2, others=[[]]), fail, [1.0])


def test_an_error_elsewhere_is_raised_here_too_and_names_the_rank() -> None:
    with pytest.raises(RnshmcError, match="rank 1: a solve failed there"):
        together(Rank(0, 2, others=[], messages=["a solve failed there"]), lambda: 1.0)
