"""An image of 10^5 pixels: seconds, runs and memory of `rnshmc.sample`.

python benchmarks/many_outputs.py
"""

import resource
import time

import numpy as np

import rnshmc
from rnshmc.types import Array

ACROSS, ALONG = np.meshgrid(np.linspace(-3.0, 3.0, 316), np.linspace(-3.0, 3.0, 317))
TRUTH = np.array([0.5, -0.3, 0.2, 0.4, 0.3, 0.1])
PRIOR = {**{f"x{i}": ("normal", 0.0, 1.0) for i in range(6)}, "sigma": ("halfnormal", 5.0)}


def bump(x: Array) -> Array:
    """A Gaussian bump: place, width, height and turn, on a background."""
    turn, width = 0.3 * x[4], np.exp(0.3 * x[2])
    across, along = ACROSS - 0.3 * x[0], ALONG - 0.3 * x[1]
    u, v = across * np.cos(turn) + along * np.sin(turn), along * np.cos(turn) - across * np.sin(turn)
    return np.asarray(np.exp(0.3 * x[3] - 0.5 * (u**2 + 4.0 * v**2) / width**2) + 0.1 * x[5])


if __name__ == "__main__":
    data = bump(TRUTH) + np.random.default_rng(0).normal(0.0, 3.0, ACROSS.shape)
    model = rnshmc.Model(bump, data, likelihood=rnshmc.Gaussian("sigma"), prior=PRIOR)
    start = time.perf_counter()
    result = rnshmc.sample(model, [0.0] * 6 + [1.0], progress_bar=False)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{data.size} outputs: {result.spent.units} runs, {time.perf_counter() - start:.0f} s, {memory:.2f} GiB; "
        f"{result.verdict.level}"
    )
