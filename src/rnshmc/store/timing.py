"""Seconds per iteration from the timing stage."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rnshmc.errors import StoreError


@dataclass(frozen=True)
class Timing:
    """Seconds per kept iteration of one sampler on one problem, from blocks of iterations timed one after another."""

    problem: str
    sampler: str
    s_per_iter: float
    """Median over the blocks."""
    s_per_iter_blocks: tuple[float, ...]
    loaded: bool
    """Whether other processes kept the machine busy meanwhile."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file of the timing stage.

        Raises
        ------
        StoreError
            If the file is missing, is not JSON, or a key is missing.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                problem=content["problem"],
                sampler=content["sampler"],
                s_per_iter=content["s_per_iter"],
                s_per_iter_blocks=tuple(content["s_per_iter_blocks"]),
                loaded=content["loaded"],
            )
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path}: cannot read timing: {error!r}") from error

    @property
    def standard_error(self) -> float:
        """Standard error of the median over the blocks, assuming normality; NaN for a single block."""
        blocks = np.array(self.s_per_iter_blocks)
        if blocks.size < 2:
            return float("nan")
        return float(np.sqrt(np.pi / 2) * blocks.std(ddof=1) / np.sqrt(blocks.size))
