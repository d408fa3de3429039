"""A hundred runs of `rnshmc.sample` on contaminated normals and on laws of several funnels: none good and far off.

    scripts/in-env.sh python benchmarks/heavy_laws.py [--every 1] [--results benchmarks/results/heavy_laws.csv]

Each row is appended as its run ends, and runs that have one are not repeated. Then a table is printed; the exit status
is 1 if a run called good has a mean or variance more than five of its own standard errors off. Moments are exact.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from peers.known_laws import KnownMoments, NormalMixture
from threadpoolctl import threadpool_limits

import rnshmc
from rnshmc.errors import NumericalError
from rnshmc.types import Array

FAR_OFF = 5.0
"""Standard errors of its own by which no mean or variance of a good run should be off."""
BUDGET = 40000
"""Units of a run at most. A fallback that needs more is reported as one that stopped early."""
COLUMNS = ("law", "seed", "units", "method", "verdict", "z_mean", "z_variance", "worst_ratio", "seconds")


class Contaminated(NormalMixture, KnownMoments):
    """(1 - share) N(0, I) + share N(0, width^2 I)."""

    mean = 0.0

    def __init__(self, share: float, width: float, dim: int) -> None:
        super().__init__(np.array([1.0 - share, share]), np.zeros((2, dim)), np.array([1.0, width]))
        self.variance = 1.0 - share + share * width**2


class Funnels(KnownMoments):
    """Independent funnels, one after the other: v ~ N(0, sd^2), and x_k ~ N(0, exp(v)) given v for its followers."""

    mean = 0.0

    def __init__(self, sd: float, followers: tuple[int, ...]) -> None:
        starts = np.cumsum([0, *(1 + count for count in followers)])
        self.dim = int(starts[-1])
        self.variance = np.full(self.dim, np.exp(0.5 * sd**2))
        self.variance[starts[:-1]] = sd**2
        self._sd, self._parts = sd, [slice(a, b) for a, b in zip(starts, starts[1:], strict=False)]

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        draws = rng.standard_normal((n, self.dim))
        for part in self._parts:
            driver = draws[:, part.start] = self._sd * draws[:, part.start]
            draws[:, part.start + 1 : part.stop] *= np.exp(0.5 * driver)[:, None]
        return draws

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        total, gradient = 0.0, np.empty_like(q)
        for part in self._parts:
            v, x = q[part][0], q[part][1:]
            if abs(v) > 300.0:
                raise NumericalError("the potential of a funnel overflows")
            half, squares = 0.5 * len(x), 0.5 * np.exp(-v) * (x @ x)
            total += 0.5 * (v / self._sd) ** 2 + half * v + squares
            gradient[part] = v / self._sd**2 + half - squares, *(np.exp(-v) * x)
        return float(total), gradient


FOLLOWERS = ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 1, 1), (1, 1, 2))


def runs() -> Iterator[tuple[str, KnownMoments, int]]:
    """Names of laws, the laws, and seeds."""
    for seed in (1, 2):
        for share, width, dim in product((0.03, 0.1, 0.3), (3.0, 5.0, 10.0), (2, 3, 5, 8)):
            yield f"contaminated {share:.0%} x{width:g} d={dim}", Contaminated(share, width, dim), seed
        for sd, followers in product((1.0, 3.0), FOLLOWERS):
            yield f"funnels sd={sd:g} {'+'.join(map(str, followers))}", Funnels(sd, followers), seed


def measured(name: str, law: KnownMoments, seed: int) -> dict[str, object]:
    """A row of one run; of a run without draws, errors are NaN."""
    start = 0.1 * np.random.default_rng(seed).standard_normal(law.dim)
    began = time.process_time()
    result = rnshmc.sample(law, start, seed=seed, budget=BUDGET, progress_bar=False)
    found = result.outcome
    with np.errstate(invalid="ignore", divide="ignore"):
        z_mean = np.abs(found.mean.value - law.mean) / found.mean.standard_error
        z_variance = np.abs(found.variance.value - law.variance) / found.variance.standard_error
        ratio = found.variance.value / law.variance
    worst = ratio[np.argmax(np.abs(np.log(np.maximum(ratio, 1e-9))))]
    verdict, seconds = result.verdict.level, time.process_time() - began
    row = (name, seed, result.spent.units, found.method, verdict, z_mean.max(), z_variance.max(), worst, seconds)
    return dict(zip(COLUMNS, row, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="run every n-th only")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/heavy_laws.csv"))
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    rows = list(csv.DictReader(options.results.open())) if options.results.exists() else []
    done = {(row["law"], row["seed"]) for row in rows}
    for name, law, seed in list(runs())[options.first :: options.every]:
        if (name, str(seed)) not in done:
            row = measured(name, law, seed)
            with options.results.open("a") as file:
                writer = csv.DictWriter(file, COLUMNS)
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerow(row)
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
