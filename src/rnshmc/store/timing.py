"""Seconds per iteration from the timing stage."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnshmc.errors import StoreError


@dataclass(frozen=True)
class Timing:
    """Seconds per kept iteration of one sampler on one problem, from consecutive timed blocks of iterations."""

    problem: str
    sampler: str
    s_per_iter: float
    """Median over the blocks."""
    s_per_iter_blocks: tuple[float, ...]
    loaded: bool
    """Whether other processes kept the machine busy during the measurement."""

    @property
    def standard_error(self) -> float:
        """Standard error of the median over the blocks, assuming normality; NaN for a single block."""
        blocks = np.array(self.s_per_iter_blocks)
        if blocks.size < 2:
            return float("nan")
        return float(np.sqrt(np.pi / 2) * blocks.std(ddof=1) / np.sqrt(blocks.size))


def read_timings(path: Path) -> list[Timing]:
    """Read a file of the timing stage: the samplers of a problem.

    Raises `StoreError` if the file is missing, is not JSON, or a key is missing.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [
            Timing(
                problem=content["problem"],
                sampler=measured["sampler"],
                s_per_iter=measured["s_per_iter"],
                s_per_iter_blocks=tuple(measured["s_per_iter_blocks"]),
                loaded=measured["loaded"],
            )
            for measured in content["samplers"]
        ]
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"{path}: cannot read timing: {error!r}") from error
