"""Seconds of `rnshmc.sample` when the surrogate fails: bananas in pairs of dimensions, without exact chains afterwards.

    scripts/in-env.sh python benchmarks/failing.py [--seeds 1] [dim ...]

Processor seconds on one BLAS thread, of which the target takes almost none. The budget ends before exact chains would
start.
"""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np
import numpy.typing as npt

import rnshmc

Array = npt.NDArray[np.float64]
DIMS = (10, 20, 30)
BUDGET, BEND, SD = 4000, 3.0, 0.3


def bananas(x: Array) -> tuple[float, Array]:
    """log density and gradient of independent pairs: a ~ N(0, 1), b ~ N(BEND (a^2 - 1), SD^2)."""
    a, b = x[::2], x[1::2]
    z = (b - BEND * (a * a - 1.0)) / SD
    gradient = np.empty_like(x)
    gradient[::2] = -a + z / SD * 2.0 * BEND * a
    gradient[1::2] = -z / SD
    return -0.5 * float(a @ a + z @ z), gradient


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("dims", nargs="*", type=int, default=DIMS)
    arguments = parser.parse_args()
    print(f"{'d':>4}{'seed':>6}{'units':>8}{'seconds':>9}  verdict")
    for dim in arguments.dims:
        for seed in range(1, arguments.seeds + 1):
            start, begun = np.random.default_rng(seed).uniform(-1.0, 1.0, dim), time.process_time()
            result = rnshmc.sample(bananas, start, seed=seed, budget=BUDGET, progress_bar=False)
            seconds = time.process_time() - begun
            print(f"{dim:4}{seed:6}{result.spent.units:8}{seconds:9.1f}  {result.verdict.level}", flush=True)


if __name__ == "__main__":
    main()
