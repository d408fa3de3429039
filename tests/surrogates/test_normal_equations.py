"""The running normal equations are those of all rows absorbed."""

import numpy as np

from rnshmc.random import stream
from rnshmc.surrogates.normal_equations import BLOCK, NormalEquations

EPS = np.finfo(np.float64).eps
UNITS = 12


def test_they_grow_by_blocks() -> None:
    rng = stream(31, "normal equations")
    H, t, v = (
        rng.standard_normal((2 * BLOCK + 5, UNITS)),
        rng.standard_normal(2 * BLOCK + 5),
        rng.standard_normal(UNITS),
    )
    ridge = 0.3
    equations = NormalEquations.of(H[:5], t[:5], ridge)
    filled = [equations.add(h, target) for h, target in zip(H[5:], t[5:], strict=True)]
    assert np.flatnonzero(filled).tolist() == [BLOCK - 1, 2 * BLOCK - 1]
    expected = H.T @ t - (H.T @ H + ridge * np.eye(UNITS)) @ v
    size = np.linalg.norm(H) ** 2 * np.linalg.norm(v)
    assert np.linalg.norm(equations.residual(v) - expected) <= len(t) * EPS * size
