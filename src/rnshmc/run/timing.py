"""Seconds per iteration of a sampler on an otherwise idle machine."""

import time
from dataclasses import dataclass

import numpy as np
import psutil

from rnshmc.run.chain import Kernel, S, run_phase
from rnshmc.run.counting import Counter
from rnshmc.types import Array

LOADED_CORES = 0.25
"""A measurement is marked as made under load if other processes use more cores than this."""


@dataclass(frozen=True)
class Timing:
    """Seconds per iteration, measured in blocks."""

    s_per_iter_blocks: Array
    """Wall-clock seconds per iteration of each block."""
    other_cores: float
    """Mean number of cores that other processes used meanwhile, in a container including processes of its host."""

    @property
    def loaded(self) -> bool:
        """Whether other processes were busy enough to disturb the measurement."""
        return self.other_cores > LOADED_CORES

    def report(self) -> dict[str, object]:
        """Content of a file of the timing stage: the blocks, their median, 10% and 90% quantiles, and the load."""
        p10, median, p90 = np.quantile(self.s_per_iter_blocks, [0.1, 0.5, 0.9])
        return {
            "s_per_iter_blocks": self.s_per_iter_blocks.tolist(),
            "s_per_iter": median,
            "s_per_iter_p10": p10,
            "s_per_iter_p90": p90,
            "other_cores": self.other_cores,
            "loaded": self.loaded,
        }


def time_kernel(
    kernel: Kernel[S], state: S, *, blocks: int, block_iterations: int, rng: np.random.Generator, counter: Counter
) -> Timing:
    """Continue a chain for ``blocks`` x ``block_iterations`` iterations, after one untimed block as warm-up."""
    state, _ = run_phase(kernel, state, iterations=block_iterations, rng=rng, counter=counter)
    seconds = np.empty(blocks)
    start, machine, own = time.perf_counter(), busy_s(), time.process_time()
    for b in range(blocks):
        state, phase = run_phase(kernel, state, iterations=block_iterations, rng=rng, counter=counter)
        seconds[b] = phase.wall_s / block_iterations
    elapsed = time.perf_counter() - start
    others = (busy_s() - machine) - (time.process_time() - own)
    return Timing(seconds, other_cores=max(0.0, others / elapsed))


def busy_s() -> float:
    """Total busy time of all cores since the machine started, in seconds."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))
