"""A hundred runs of `rnshmc.sample` on contaminated normals and on products of funnels.

    scripts/in-env.sh python benchmarks/heavy_laws.py [--part 0 2] [--results benchmarks/results/heavy_laws.csv]

Each run appends a row when it ends, and runs with a row are not repeated; `--part 0 2` makes every second run. Then a
table is printed. The exit status is 1 if a run marked good has a mean or variance that is more than five of its own
standard errors from the exact one.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from peers.known_laws import Contaminated, Funnels, KnownMoments
from threadpoolctl import threadpool_limits

import rnshmc

FAR_OFF = 5.0
"""Standard errors of its own by which no mean or variance of a good run should be off."""
DRAWS = 1000
BUDGET = 40000
"""Units of a run at most."""
COLUMNS = ("law", "seed", "units", "method", "verdict", "z_mean", "z_variance", "worst_ratio", "seconds")
FOLLOWERS = ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 1, 1), (1, 1, 2))
"""Numbers of followers of two and three drivers, in 4 to 8 dimensions."""


def runs() -> Iterator[tuple[str, KnownMoments, int]]:
    """Names of laws, the laws, and seeds."""
    for seed in (1, 2):
        for width, share, dim in product((3.0, 5.0, 10.0), (0.03, 0.1, 0.3), (2, 3, 5, 8)):
            yield f"contaminated x{width:g}, {share:.0%}, d = {dim}", Contaminated(share, width, dim), seed
        for sd, followers in product((1.0, 3.0), FOLLOWERS):
            yield f"funnels sd {sd:g}, {'+'.join(map(str, followers))}", Funnels(sd, followers), seed


def measured(name: str, law: KnownMoments, seed: int) -> dict[str, object]:
    """A row of one run; NaN where it has no standard errors."""
    start = 0.1 * np.random.default_rng(seed).standard_normal(law.dim)
    began = time.process_time()
    result = rnshmc.sample(law, start, draws=DRAWS, seed=seed, budget=BUDGET, progress_bar=False)
    found = result.outcome
    with np.errstate(invalid="ignore", divide="ignore"):
        z_mean = np.abs(found.mean.value - law.mean) / found.mean.standard_error
        z_variance = np.abs(found.variance.value - law.variance) / found.variance.standard_error
    ratios = found.variance.value / law.variance
    row = (
        name,
        seed,
        result.spent.units,
        found.method,
        result.verdict.level,
        f"{z_mean.max():.3g}",
        f"{z_variance.max():.3g}",
        f"{ratios[np.argmax(np.abs(ratios - 1.0))]:.3g}",
        f"{time.process_time() - began:.1f}",
    )
    return dict(zip(COLUMNS, row, strict=True))


def off(row: dict[str, str]) -> bool:
    """Whether a mean or variance is far off; NaN is not."""
    return any(float(row[z]) > FAR_OFF for z in ("z_mean", "z_variance"))


def table(rows: list[dict[str, str]]) -> list[str]:
    """A line for each kind of law."""
    lines = [
        "| law | runs | good | of these far off | not good | of these far off | units |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(row["law"].partition(",")[0] for row in rows):
        here = [row for row in rows if row["law"].partition(",")[0] == kind]
        cells: list[object] = [kind, len(here)]
        for good in (True, False):
            some = [row for row in here if (row["verdict"] == "good") == good]
            cells += [len(some), sum(map(off, some))]
        units = sorted(int(row["units"]) for row in here)
        lines.append(f"| {' | '.join(map(str, cells))} | {units[len(units) // 2]} ({units[-1]}) |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("k", "n"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/heavy_laws.csv"))
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    if not options.results.exists():
        options.results.write_text(",".join(COLUMNS) + "\n")

    def rows() -> list[dict[str, str]]:
        with options.results.open(newline="") as file:
            return list(csv.DictReader(file))

    first, every = options.part
    for name, law, seed in list(runs())[first::every]:
        if (name, str(seed)) not in {(row["law"], row["seed"]) for row in rows()}:
            row = measured(name, law, seed)
            with options.results.open("a", newline="") as file:
                csv.DictWriter(file, COLUMNS).writerow(row)
    print("\n".join(table(rows())))
    return int(any(row["verdict"] == "good" and off(row) for row in rows()))


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
