"""Overhead and units of `rnshmc.sample` and of another commit's, run alternately: medians over seeds.

    scripts/in-env.sh python benchmarks/overhead.py COMMIT [--seeds 3] [--output docs/peers-overheads.csv] [problem ...]

The problems are from benchmarks/peers; make their data first:

    snakemake --snakefile benchmarks/peers/Snakefile --cores 2 --config part=dimensions --until data

Processor seconds outside the target, on one BLAS thread.
"""

import argparse
import csv
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
COLUMNS = ("problem", "commit", "seeds", "seconds_then", "seconds_now", "units_then", "units_now")


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
    parser.add_argument("--output", type=Path, help="a table that the page of the comparison shows")
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    arguments = parser.parse_args()
    rows: list[list[object]] = []
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
                rows.append([problem, arguments.commit, arguments.seeds, *(f"{s:.3g}" for s in seconds), *units])
        finally:
            subprocess.run([*worktree, "remove", "--force", str(then)], check=True)
    if arguments.output is not None:
        with arguments.output.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
