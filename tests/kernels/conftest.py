"""The invariance test that every kernel has to pass, and every mutant of it to fail."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnshmc.random import stream
from rnshmc.types import Array


@pytest.fixture
def invariance_z() -> Callable[..., float]:
    """`largest_change`."""
    return largest_change


def largest_change(target: Any, kernel: Any, *names: str, n: int = 20000) -> float:
    """Largest |z| of the change of first to third moments when ``n`` exact draws go through one transition.

    Differences are paired, draw by draw, so their Monte Carlo error is that of the change alone.
    """
    rng = stream(11, *names)
    before = target.draws(rng, n)
    after = np.stack([kernel.step(rng, kernel.init(q))[0].q for q in before])
    changes = moment_features(after) - moment_features(before)
    return float(np.max(np.abs(changes.mean(axis=0)) / (changes.std(axis=0, ddof=1) / math.sqrt(n))))


def moment_features(q: Array) -> Array:
    x, y = q.T
    return np.stack([x, y, x**2, y**2, x * y, x**3, y**3, x**2 * y, x * y**2, np.cos(x + y)], axis=1)
