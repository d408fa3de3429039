"""Regression check of `rnshmc.sample` against the rows of docs/peers.csv and docs/posteriordb.csv.

    scripts/in-env.sh python benchmarks/gate.py --jobs 2 --folder ../posteriordb
    scripts/in-env.sh python benchmarks/gate.py --problems bank,pde_model --seeds 1 2 3

Default problems: the posteriors of `part=goals`; the forward models with emulated outputs, such as ``pde_model``; and,
if their folder is given, posteriordb's, in the environment of the peers (benchmarks/peers/make-env.sh).

The exit status is 1 if a result marked good is wrong, if fewer are good than by chance once in a hundred times, if the
median units exceed the rows' by more than 10%, both for the same seeds and for all, or if the maximum exceeds theirs by
more than 50%.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml
from peers.judge import Verdict, judge
from peers.measures import Moments
from peers.reference import read
from peers.table import read_rows
from peers.wording import count, median
from posteriordb.database import names
from posteriordb.table import reference
from scipy.stats import betabinom

ROOT = Path(__file__).parents[1]
PEERS, DATABASE, RESULTS = (ROOT / f"benchmarks/{folder}" for folder in ("peers", "posteriordb", "results"))
MEDIAN, LARGEST = 1.1, 1.5
"""Units at most, relative to those of the table."""
CHANCE = 0.01
"""Probability, given the share of good results in the table, below which too few are good."""
LINE = "{:40}{:>6}{:>12}{:>12}{:>12}{:>12}{:>6}{:>7}{:>10}  {}".format


@dataclass(frozen=True)
class Case:
    """A sampler on a posterior, and the commands of a run but for its seed and output."""

    name: str
    peer: str
    problem: str
    made: Path
    """The data file, or the dimension of the compiled program, which ``make`` writes."""
    make: tuple[object, ...]
    sample: tuple[object, ...]
    reference: Callable[[], tuple[Moments, tuple[float, float]]]

    def run(self, seed: int) -> Verdict:
        """The verdict on a new run, in a process of its own."""
        output = RESULTS / f"gate/{self.name}/{seed}.json"
        output.parent.mkdir(parents=True, exist_ok=True)
        call(*self.sample, "--seed", seed, "--output", output)
        return judge(json.loads(output.read_text()), *self.reference())


def call(python: object, module: object, *arguments: object) -> None:
    """Run a module in a process of its own, with one thread."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": "benchmarks"}
    subprocess.run(
        [str(part) for part in (python, "-m", module, *arguments)], cwd=ROOT, env=os.environ | threads, check=True
    )


def of_peers() -> Iterator[Case]:
    settings = yaml.safe_load((PEERS / "config.yaml").read_text())
    for peer, part, suffix in (("rnshmc_gradient", "goals", ""), ("rnshmc_model", "forward_models", "_model")):
        for name in settings["parts"][part]["problems"]:
            data = RESULTS / f"peers-data/{name}.npz"
            limits = ("--max-units", settings["problems"][name]["max_units"], "--max-seconds", settings["max_seconds"])
            make = (sys.executable, "peers.data", "--problem", name, "--output", data)
            sample = (sys.executable, "peers.run", "--peer", peer, "--problem", name, "--data", data, *limits)
            yield Case(name + suffix, peer, name, data, make, sample, partial(read, PEERS / f"reference/{name}.csv"))


def of_database(folder: Path) -> Iterator[Case]:
    settings, python = yaml.safe_load((DATABASE / "config.yaml").read_text()), PEERS / ".venv/bin/python"
    limits = ("--max-units", settings["max_units"], "--max-seconds", settings["max_seconds"])
    for name in names(folder):
        dim = RESULTS / f"posteriordb/{name}/dim"
        make = (python, "posteriordb.program", folder / name, dim)
        sample = (python, "posteriordb.run", "--sampler", "rnshmc", "--folder", folder / name, "--dim", dim, *limits)
        yield Case(name, "rnshmc", name, dim, make, sample, partial(reference, folder, name))


def compared(case: Case, runs: Sequence[Verdict], rows: Sequence[Verdict]) -> tuple[str, bool]:
    """A line of the report, and whether the case passes."""
    rows = [row for row in rows if (row.peer, row.problem) == (case.peer, case.problem)]
    same = [row for row in rows if row.seed in {run.seed for run in runs}]
    middle, usual = (median(some, "units_goal") for some in (runs, rows))
    largest, most = (max(run.units_goal for run in some) for some in (runs, rows))
    wrong = sum(not run.honest for run in runs)
    good, once = (sum(run.says_good for run in some) for some in (runs, rows))
    few = bool(betabinom.cdf(good, len(runs), once + 1, len(rows) - once + 1) < CHANCE)
    usually = max(median(some, "units_goal") for some in (rows, same) if some)
    reasons = {
        "wrong": wrong > 0,
        "few good": few,
        "median": middle > MEDIAN * usually,
        "largest": largest > LARGEST * most,
    }
    failed = ", ".join(reason for reason, so in reasons.items() if so)
    units = map(count, (middle, usual, largest, most))
    seconds = f"{median(runs, 'overhead_s'):.1f} s"
    return LINE(case.name, len(runs), *units, good, wrong, seconds, failed), not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=lambda text: text.split(","))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--folder", type=Path, help="of posteriordb")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    database = of_database(options.folder.resolve()) if options.folder else ()
    cases = {case.name: case for case in (*of_peers(), *database)}
    if unknown := set(options.problems or ()) - set(cases):
        parser.error(f"--problems: {', '.join(sorted(unknown))} are not among {', '.join(cases)}")
    chosen = [cases[name] for name in options.problems or cases]
    rows = [row for table in ("peers", "posteriordb") for row in read_rows(ROOT / f"docs/{table}.csv")]
    for case in chosen:
        if not case.made.exists():
            case.made.parent.mkdir(parents=True, exist_ok=True)
            call(*case.make)
    passed = True
    print(LINE("posterior", "seeds", "median", "docs", "largest", "docs", "good", "wrong", "overhead", ""))
    with ThreadPoolExecutor(options.jobs) as pool:
        pending = [[pool.submit(case.run, seed) for seed in options.seeds] for case in chosen]
        for case, futures in zip(chosen, pending, strict=True):
            line, ok = compared(case, [future.result() for future in futures], rows)
            print(line, flush=True)
            passed = passed and ok
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
