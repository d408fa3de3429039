"""A likelihood with distributed rows: mpiexec -n RANKS python -m mpi4py sharded_program.py CASE [OUTPUT]."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from rnshmc.datasets.shards import BLOCK_ROWS, simulate_shard
from rnshmc.errors import DataError, NumericalError, RnshmcError
from rnshmc.random import stream
from rnshmc.targets.sharded_logistic import ShardedLogistic

COMM = MPI.COMM_WORLD
ROWS, DIM = 3 * BLOCK_ROWS + 17, 5


def evaluate(output: str) -> None:
    """Write all evaluations of the potential at a few positions."""
    X, y = simulate_shard(ROWS, DIM, seed=1, rank=COMM.rank, size=COMM.size)
    assert sum(COMM.allgather(len(y))) == ROWS
    assert COMM.size == 1 or len(y) < 0.7 * ROWS
    target = ShardedLogistic(COMM, X, y, 2.0)
    positions = stream(1, "positions").standard_normal((4, DIM))
    factor = stream(1, "factor").standard_normal((DIM, 2))
    pairs = [target.value_and_grad(q) for q in positions]
    arrays: dict[str, Any] = {
        "value": [target.value(q) for q in positions],
        "gradient": [target.gradient(q) for q in positions],
        "value_with_gradient": [value for value, _ in pairs],
        "gradient_with_value": [gradient for _, gradient in pairs],
        "metric": [target.metric(q) for q in positions],
        "metric_vjp": [target.metric_vjp(q, factor) for q in positions],
    }
    if COMM.rank == 0:
        np.savez(output, **arrays)


def overflow() -> None:
    """If only the last rank's rows overflow, all ranks raise an error."""
    target = ShardedLogistic(COMM, np.full((2, 1), 1e300 if COMM.rank == COMM.size - 1 else 1.0), [0, 1], 1.0)
    for overflows in (target.value, target.value_and_grad, target.metric):
        try:
            overflows(np.array([1e10]))
        except NumericalError:
            print("failed", flush=True)
    # Nobody was left waiting.
    assert np.isfinite(target.value(np.zeros(1)))


def bad_rows() -> None:
    """Rows that one rank alone cannot use, then rows that do not fit together: errors on all."""
    bad = COMM.rank == COMM.size - 1
    for X, error in (
        (np.full((2, 1), np.nan if bad else 1.0), RnshmcError),
        (np.ones((2, 2 if bad else 1)), DataError),
    ):
        try:
            ShardedLogistic(COMM, X, [0, 1], 1.0)
        except error:
            print("failed", flush=True)


if __name__ == "__main__":
    cases: dict[str, Callable[..., None]] = {"evaluate": evaluate, "overflow": overflow, "bad_rows": bad_rows}
    cases[sys.argv[1]](*sys.argv[2:])
