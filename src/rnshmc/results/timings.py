"""Seconds per iteration of every sampler of a run."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rnshmc.results.estimates import cells
from rnshmc.results.metrics import ChainMetrics
from rnshmc.run.recipes import AUTO
from rnshmc.run.timing import LOADED_CORES
from rnshmc.store.timing import Timing, read_timings


def all_timings(paths: Iterable[str], metrics: Iterable[ChainMetrics]) -> list[Timing]:
    """Timings in the files of the timing stage, and those of `rnshmc.sample`, whose chains are timed as they run.

    Raises `StoreError` if a file cannot be read.
    """
    timings = [timing for path in paths for timing in read_timings(Path(path))]
    for (problem, sampler), chains in cells(metrics).items():
        if chains[0].recipe == AUTO:
            phases = [chain.phases["sample"] for chain in chains]
            seconds = tuple(phase["wall_s"] / phase["iterations"] for phase in phases)
            loaded = any(phase["other_cores"] > LOADED_CORES for phase in phases)
            timings.append(Timing(problem, sampler, float(np.quantile(seconds, 0.5)), seconds, loaded))
    return timings
