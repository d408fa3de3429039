"""Where the seconds of `rnshmc.sample` go, medians over seeds: fits, chains on the surrogate, its process, the target.

    scripts/in-env.sh python benchmarks/where.py [--seeds 3] [problem ...]

Problems are those of benchmarks/peers, whose data are made first, as for benchmarks/overhead.py. Processor seconds, on
one BLAS thread, under cProfile, which adds a few percent.
"""

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from overhead import DATA, MAX_SECONDS, MAX_UNITS, PROBLEMS

PARTS = {
    "fits": ("learning.py", "learnt"),
    "chains": ("chains.py", "run_chains"),
    "process": ("gradient_conditioning.py", "conditional_covariance"),
    "paths": ("paths.py", "draw_paths"),
    "rhat": ("summary.py", "rhats"),
    "target": ("pools.py", "next"),
    "all": ("call.py", "sample"),
}
"""Functions. Paths of the process take its covariance, and the last calls all others."""


def seconds(problem: str, seed: int) -> dict[str, float]:
    """Processor seconds of each part, of one run."""
    # Imports are no part of a run.
    import arviz  # noqa: F401
    from peers import run

    import rnshmc.inference.algorithm  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["peers.run", "--peer", "rnshmc_gradient", "--problem", problem, "--seed", str(seed)]
        sys.argv += ["--data", str(DATA / f"{problem}.npz"), "--output", f"{folder}/run.json"]
        sys.argv += ["--max-units", str(MAX_UNITS), "--max-seconds", str(MAX_SECONDS)]
        profile = cProfile.Profile(time.process_time)
        profile.runcall(run.main)
    stats = pstats.Stats(profile)
    found = dict.fromkeys(PARTS, 0.0)
    for (file, _, function), (_, _, _, cumulative, _) in stats.stats.items():  # type: ignore[attr-defined]
        for part, (name, wanted) in PARTS.items():
            if function == wanted and Path(file).name == name:
                found[part] += cumulative
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    arguments = parser.parse_args()
    print(f"{'problem':16}" + "".join(f"{part:>9}" for part in PARTS))
    for problem in arguments.problems:
        runs = [seconds(problem, seed) for seed in range(1, arguments.seeds + 1)]
        print(f"{problem:16}" + "".join(f"{median(run[part] for run in runs):9.2f}" for part in runs[0]), flush=True)


if __name__ == "__main__":
    main()
