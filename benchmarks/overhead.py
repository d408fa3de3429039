"""Overhead and units of `rnshmc.sample` and of another commit's, run alternately: medians over seeds.

    scripts/in-env.sh python benchmarks/overhead.py COMMIT [--seeds 3] [problem ...]

The problems are from benchmarks/peers; make their data first:

    snakemake --snakefile benchmarks/peers/Snakefile --cores 2 --config part=dimensions --until data

Processor seconds outside the target, on one BLAS thread.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "benchmarks/results/peers-data"
PROBLEMS = ("bank", "lr_simulated", "a9a", "pde_precise")
MAX_UNITS, MAX_SECONDS = 60000, 600


def run(project: Path, problem: str, seed: int, output: Path) -> tuple[float, float]:
    """Overhead in seconds, and units, by the code of a project."""
    paths = os.pathsep.join(str(project / part) for part in ("src", "benchmarks"))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    options = {
        "peer": "rnshmc_gradient",
        "problem": problem,
        "seed": seed,
        "data": DATA / f"{problem}.npz",
        "output": output,
        "max-units": MAX_UNITS,
        "max-seconds": MAX_SECONDS,
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "peers.run", *arguments]
    subprocess.run(command, check=True, cwd=project, env=environment, stderr=subprocess.DEVNULL)
    found = json.loads(output.read_text())
    return found["overhead_s"], found["units"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "--detach", str(then), arguments.commit], check=True)
        try:
            print(f"{'problem':16}{'seconds then':>14}{'now':>8}{'units then':>12}{'now':>8}")
            for problem in arguments.problems:
                runs = [
                    [run(project, problem, seed, Path(folder) / "run.json") for project in (then, ROOT)]
                    for seed in range(1, arguments.seeds + 1)
                ]
                seconds, units = ([median(pair[k][i] for pair in runs) for k in range(2)] for i in range(2))
                print(f"{problem:16}{seconds[0]:14.2f}{seconds[1]:8.2f}{units[0]:12.0f}{units[1]:8.0f}", flush=True)
        finally:
            subprocess.run([*worktree, "remove", "--force", str(then)], check=True)


if __name__ == "__main__":
    main()
