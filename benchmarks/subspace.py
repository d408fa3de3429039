"""A process on all directions compared with one on the few that are not normal: seconds, memory and errors, by n and d.

    scripts/in-env.sh python benchmarks/subspace.py

The density has log-gamma variables along 8 directions, or along all, and normal ones along the others. For each d there
are two numbers of points n. Each fit searches its length in a separate operating system process, whose peak memory is
printed; both alternate three times, and seconds are the minimum, on one BLAS thread. sd(U - V) is over 500 draws of the
density; the correction is the change of means by weights exp(V - U) at these, in standard deviations. `Fitting.whole`
is the maximum dimension in which `rnshmc.sample` learns all directions.
"""

import json
import resource
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
from scipy.special import digamma, polygamma
from threadpoolctl import threadpool_limits

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS
from rnshmc.inference.surrogate.learning import SubspaceKernel, learnt
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array

SHAPE, INSIDE, REPEATS, DRAWS = 5.0, 8, 3, 500
DIMENSIONS = (10, 20, 25, 30, 35, 40, 60, 100, 200, 300, 500)
MOST_ROWS = DEFAULT.fitting.most_rows
WAYS = {"all": MOST_ROWS, "few": 0}
"""`Fitting.whole` of each way: up to any dimension, or to none."""


class Density:
    """Standardised log-gamma variables along some orthonormal directions."""

    def __init__(self, dim: int, inside: int) -> None:
        self.basis = np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, dim)))[0][:, :inside]
        self.mean, self.sd = float(digamma(SHAPE)), float(np.sqrt(polygamma(1, SHAPE)))

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        x = rng.standard_normal((n, len(self.basis)))
        y = (np.log(rng.gamma(SHAPE, size=(n, self.basis.shape[1]))) - self.mean) / self.sd
        return np.asarray(x + (y - x @ self.basis) @ self.basis.T)

    def potentials(self, x: Array) -> tuple[Array, Array]:
        y = x @ self.basis
        z = self.mean + self.sd * y
        values = 0.5 * ((x**2).sum(axis=1) - (y**2).sum(axis=1)) + (np.exp(z) - SHAPE * z).sum(axis=1)
        return values, x + (self.sd * (np.exp(z) - SHAPE) - y) @ self.basis.T


def fit(dim: int, n: int, inside: int, way: str) -> dict[str, float]:
    """Seconds, GiB, directions and errors of one fit."""
    density, rng = Density(dim, inside), np.random.default_rng(1)
    points = 0.9 * rng.standard_normal((n, dim))
    values, slopes = density.potentials(points)
    tuning = replace(DEFAULT.fitting, whole=WAYS[way], most_rows=MOST_ROWS)
    near, whitening = Training(points, values, slopes, None), Whitening(np.zeros(dim), np.eye(dim))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with threadpool_limits(limits=1, user_api="blas"):
        start = time.process_time()
        kernel = learnt(near, whitening, float(values.min()), rng, tuning, like=None, lengths=LENGTHS)
        taken = time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    fresh = density.draws(DRAWS, rng)
    away = density.potentials(fresh)[0] - values.min() - kernel.values_and_gradients(fresh)[0]
    weights = np.exp(np.median(away) - away)
    correction = weights @ fresh / weights.sum() - fresh.mean(axis=0)
    return {
        "s": taken,
        "gib": memory,
        "directions": kernel.process.dim if isinstance(kernel, SubspaceKernel) else dim,
        "sd": float(away.std()),
        "correction": float(np.linalg.norm(correction)),
    }


def apart(*arguments: int | str) -> dict[str, float]:
    """`fit` in a process of its own, so that its memory is that of the fit."""
    command = [sys.executable, __file__, *map(str, arguments)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> None:
    print(f"Fitting.whole: {DEFAULT.fitting.whole}")
    print(
        f"{'inside':>6}{'d':>5}{'n':>5}{'seconds: all / few':>21}{'GiB: all / few':>21}{'r':>5}{'sd(U - V)':>18}"
        f"{'correction':>19}"
    )
    for inside in (INSIDE, 0):
        for dim in DIMENSIONS:
            for n in sorted({dim + 20, 3 * dim // 2 + 40}):
                ways = [way for way in WAYS if way == "few" or n * (dim + 1) <= MOST_ROWS]
                if not inside and "all" not in ways:
                    continue
                runs = {way: list[dict[str, float]]() for way in ways}
                for _ in range(REPEATS):
                    for way, found in runs.items():
                        found.append(apart(dim, n, inside or dim, way))
                best = {way: min(found, key=lambda one: one["s"]) for way, found in runs.items()}
                cells = {
                    key: " / ".join(f"{best[way][key]:.3g}" if way in best else "-" for way in WAYS)
                    for key in ("s", "gib", "sd", "correction")
                }
                print(
                    f"{inside or dim:6}{dim:5}{n:5}{cells['s']:>21}{cells['gib']:>21}"
                    f"{best['few']['directions']:5.0f}{cells['sd']:>18}{cells['correction']:>19}",
                    flush=True,
                )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        dim, n, inside = map(int, sys.argv[1:4])
        print(json.dumps(fit(dim, n, inside, sys.argv[4])))
    else:
        main()
