"""Seconds of `rnshmc.sample` with the threads of linear algebra that it takes, and with all that there are, in turn.

    scripts/in-env.sh python benchmarks/threads.py [--seeds 1] [problem ...]

Problems are those of benchmarks/peers, whose data are made first, as for benchmarks/overhead.py. Wall-clock and
processor seconds of a run: last digits differ between numbers of threads, and with them units.
"""

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np
from overhead import DATA
from peers.counted import Counted
from peers.problems import make_problem

import rnshmc
from rnshmc.inference.exact.pools import Threads

PROBLEMS = ("bank", "garch", "a9a", "eight_schools")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    arguments = parser.parse_args()
    columns = f"{'units':>8}{'seconds':>9}{'processor':>11}"
    print(f"{'':22}{'one thread':>28}{'all threads':>28}\n{'problem':16}{'seed':>6}{columns}{columns}")
    for name in arguments.problems:
        problem = make_problem(name, DATA / f"{name}.npz")
        for seed in range(1, arguments.seeds + 1):
            start = problem.starts(np.random.default_rng(seed), 1)[0]
            told = f"{name:16}{seed:6}"
            for all_threads in (False, True):
                with patch.object(Threads, "_set") if all_threads else nullcontext():
                    target = Counted(problem.potential, 60000, problem.model)
                    clock, processor = time.perf_counter(), time.process_time()
                    result = rnshmc.sample(target.log_density_and_gradient, start, seed=seed, progress_bar=False)
                    seconds = (time.perf_counter() - clock, time.process_time() - processor)
                told += f"{result.spent.units:8}{seconds[0]:9.1f}{seconds[1]:11.1f}"
            print(told, flush=True)


if __name__ == "__main__":
    main()
