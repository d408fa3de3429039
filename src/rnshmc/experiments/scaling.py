"""Times by number of MPI ranks, and agreement of the results with those on one rank."""

import resource
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from rnshmc.errors import RnshmcError
from rnshmc.files import read_npz
from rnshmc.run.timing import LOADED_CORES, busy_s
from rnshmc.types import Array

T = TypeVar("T")

COLUMNS = ("what", "size", "unit", "ranks", "repeat", "seconds", "other_cores", "loaded", "peak_mb")
AGREEMENT_COLUMNS = ("what", "quantity", "ranks", "difference", "tolerance")


def measure(
    comm: Any, work: Callable[[], T], *, what: str, size: int, unit: str, repeats: int
) -> tuple[T, pd.DataFrame]:
    """Time ``repeats`` repetitions of collective work. Collective.

    Returns the last result, and `COLUMNS` with a row for each repeat, the same on every rank: seconds of the slowest
    rank; cores that other processes used on the busiest host, from the first repeat to the last, and whether that is
    enough to disturb; the largest peak so far of a rank's resident memory, in MB. If what the work does the first time
    alone is not to be among the seconds, do it once before. Unit and size say how much it is: so many states, solves,
    rows or iterations.
    """
    results, seconds = [], []
    machine, own = busy_s(), time.process_time()
    for _ in range(repeats):
        comm.Barrier()
        start = time.perf_counter()
        results.append(work())
        seconds.append(time.perf_counter() - start)
    spent = (socket.gethostname(), busy_s() - machine, time.process_time() - own)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    ranks = comm.allgather((seconds, spent, peak_mb))
    slowest = np.max([rank[0] for rank in ranks], axis=0)
    others = _other_cores([rank[1] for rank in ranks], float(slowest.sum()))
    peak_mb = max(rank[2] for rank in ranks)
    rows = [
        (what, size, unit, comm.size, repeat, second, others, others > LOADED_CORES, peak_mb)
        for repeat, second in enumerate(slowest, start=1)
    ]
    return results[-1], pd.DataFrame(rows, columns=list(COLUMNS))


def agreement(what: str, files: Mapping[int, Path], *, tolerance: float) -> pd.DataFrame:
    """Compare arrays from different numbers of ranks with those of the first entry.

    `AGREEMENT_COLUMNS`: for each further number of ranks and each array, the largest difference of a row, relative to
    the norm of that row. ``files`` are npz files, by their number of ranks, with arrays of the same names and shapes; a
    tolerance of 0 asks for the same bytes. Raises `RnshmcError` if a difference exceeds the tolerance; the message
    names the array and the number of ranks.
    """
    (first, reference), *others = ((ranks, read_npz(path)) for ranks, path in files.items())
    rows = [
        (what, name, ranks, _largest_difference(array, arrays[name]), tolerance)
        for ranks, arrays in others
        for name, array in reference.items()
    ]
    for _, name, ranks, difference, _ in rows:
        # Negated, so that NaN exceeds every tolerance.
        if not difference <= tolerance:
            raise RnshmcError(f"{what}: {name} of {ranks} and {first} ranks differ by {difference:.1e}")
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def speed_up(table: pd.DataFrame) -> pd.DataFrame:
    """Median seconds of each work and number of ranks, and the speed-up over the smallest number of ranks.

    Columns what, ranks, seconds, speed_up, loaded: the last one says whether any repeat was measured under load.
    """
    groups = table.groupby(["what", "ranks"], sort=False)
    medians = groups.agg(seconds=("seconds", "median"), loaded=("loaded", "any")).reset_index()
    fewest = medians.sort_values("ranks").groupby("what").first()
    return medians.assign(speed_up=medians["what"].map(fewest["seconds"]) / medians["seconds"])


def _other_cores(spent: Sequence[tuple[str, float, float]], elapsed: float) -> float:
    """Cores used by others on the busiest host, from each rank's host, the host's busy seconds and its own."""
    busy: dict[str, float] = {}
    own: dict[str, float] = {}
    for host, machine_s, process_s in spent:
        busy[host] = max(machine_s, busy.get(host, 0.0))
        own[host] = own.get(host, 0.0) + process_s
    return max(0.0, *((busy[host] - own[host]) / elapsed for host in busy))


def _largest_difference(reference: Array, other: Array) -> float:
    if np.array_equal(reference, other):
        return 0.0
    rows, others = (array.reshape(len(array), -1) for array in (reference, other))
    return float(np.max(np.linalg.norm(others - rows, axis=1) / np.linalg.norm(rows, axis=1)))
