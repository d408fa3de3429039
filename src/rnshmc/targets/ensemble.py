"""Independent evaluations spread over MPI ranks: the same results, byte for byte, for any number of ranks."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from rnshmc.errors import RnshmcError
from rnshmc.types import Array

T = TypeVar("T")


def map_over_ranks(comm: Any, function: Callable[[T], Any], items: Sequence[T]) -> Array | None:
    """Apply ``function`` to each item on a single rank. Collective.

    Rank r of R evaluates the items r, r + R, r + 2 R, ..., so that items of one price are shared out evenly. Results
    are in the order of the items, shape (len(items), ...), on rank 0; None on the others. Raises as `together`. The
    function depends on its item alone, and gives a number or arrays of one shape; items are the same on every rank.
    """
    hand = together(comm, lambda: [function(item) for item in items[comm.rank :: comm.size]])
    hands = comm.gather(hand, root=0)
    if hands is None:
        return None
    results: list[Any] = [None] * len(items)
    for rank, dealt in enumerate(hands):
        results[rank :: comm.size] = dealt
    return np.array(results)


def together(comm: Any, work: Callable[[], T]) -> T:
    """Result of this rank's work, or an error on all ranks, so that no rank waits for a failed one. Collective.

    Raises what ``work`` raised on this rank, or `RnshmcError` if it raised on another rank alone, which it names.
    """
    try:
        result, error = work(), None
    except Exception as caught:
        result, error = None, caught
    messages = comm.allgather(None if error is None else str(error))
    if error is not None:
        raise error
    for rank, message in enumerate(messages):
        if message is not None:
            raise RnshmcError(f"rank {rank}: {message}")
    return result  # type: ignore[return-value]
