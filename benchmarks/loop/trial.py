"""The loop on known laws and on posteriors of the comparison: units, errors and moments against the exact ones.

    PYTHONPATH=benchmarks scripts/in-env.sh python -m loop.trial --problems student,contaminated,banana --seeds 1 2 3

A mode and its whitening come from `rnshmc.inference`. The data files of ``bank``, ``pde`` and the others of
benchmarks/peers, in ``--data``, are made by `peers.data`.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from loop.learn import learn
from peers.known_laws import Banana, Contaminated, KnownMoments, Logistic, SkewNormal, Student
from peers.problems import make_problem
from threadpoolctl import threadpool_limits

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.target import make_model
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.transforms import make_transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array, Potential


@dataclass(frozen=True)
class Posterior:
    """A potential, a start, and exact means and variances."""

    potential: Potential
    start: Array
    mean: Array
    variance: Array

    @classmethod
    def of_law(cls, law: KnownMoments) -> "Posterior":
        ones = np.ones(law.dim)
        return cls(law, 0.1 * ones, law.mean * ones, law.variance * ones)

    @classmethod
    def of_peers(cls, name: str, folder: Path) -> "Posterior":
        problem = make_problem(name, folder / f"{name}.npz")
        reference = Path(__file__).parents[1] / f"peers/reference/{name}.csv"
        moments = np.loadtxt(reference, delimiter=",", skiprows=1)
        return cls(problem.potential, problem.start, moments[:, 0], moments[:, 1])


LAWS = {
    "student": Student(),
    "contaminated": Contaminated(0.1, 5.0, 3),
    "banana": Banana(),
    "skew": SkewNormal(6),
    "logistic": Logistic(6),
}


def trial(posterior: Posterior, seed: int, aim: float) -> tuple[int, int, bool, Array, Array]:
    """Units to the mode and in all, whether moments are known well enough, z of all moments, ratios of variances."""
    rng = stream(seed, "loop")
    potential = posterior.potential
    workers = make_workers(None, make_model(potential, None, potential.dim), time_limit=None)
    names = [f"x{i}" for i in range(potential.dim)]
    archive = Archive.of(Evaluations(workers, make_transform(None, names)))
    mode = settle(
        archive, descend(archive, posterior.start + 0.01 * rng.standard_normal(archive.dim), DEFAULT), rng, DEFAULT
    )
    first = archive.spent.units
    for state in learn(archive, mode.whitening, rng, DEFAULT, aim=aim):
        last = state
    mean, variance = last.cloud.mean(), last.cloud.variance()
    z = [(mean.value - posterior.mean) / mean.standard_error]
    z.append((variance.value - posterior.variance) / variance.standard_error)
    return first, archive.spent.units, last.good, np.concatenate(z), variance.value / posterior.variance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=lambda text: text.split(","), default=list(LAWS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--aim", type=float, default=500.0, help="independent draws whose errors are aimed at")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/results/peers-data"))
    options = parser.parse_args()
    print("| posterior | units (to the mode) | known well enough | largest z | rms z | variances over exact ones |")
    print("|---|---|---|---|---|---|")
    for name in options.problems:
        posterior = Posterior.of_law(LAWS[name]) if name in LAWS else Posterior.of_peers(name, options.data)
        with threadpool_limits(1):
            runs = [trial(posterior, seed, options.aim) for seed in options.seeds]
        units = ", ".join(f"{run[1]} ({run[0]})" for run in runs)
        z, ratios = np.array([run[3] for run in runs]), np.array([run[4] for run in runs])
        worst = [row[np.argmax(np.abs(np.log(np.maximum(row, 1e-9))))] for row in ratios]
        cells = units, f"{sum(run[2] for run in runs)} of {len(runs)}", f"{np.abs(z).max():.1f}"
        print(
            f"| {name} | {' | '.join(cells)} | {np.sqrt((z**2).mean()):.2f} | {', '.join(f'{r:.2f}' for r in worst)} |"
        )


if __name__ == "__main__":
    main()
