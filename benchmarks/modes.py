"""Forward models with two modes, from one start and none: how often a mode is missed, and the number of model runs.

    OMP_NUM_THREADS=1 scripts/in-env.sh python benchmarks/modes.py [--seeds 15]

A source in a plate is observed by fifteen sensors that hardly distinguish it from its mirror image, and a sum of two
exponentials may exchange its terms. Shares are those of the smaller mode; a run misses it if it finds only one mode.
For comparison there are the runs without the search. On the line, a source is two standard deviations of the prior
from the middle, and the start is on the side of its weaker image. The last rows are of a model with one mode.
"""

import argparse
from collections.abc import Callable

import numpy as np

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array

SENSORS = np.array([(x, y) for x in (0.1, 0.3, 0.5, 0.7, 0.9) for y in (0.2, 0.5, 0.8)])
TIMES = np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
SOURCE = {"x": ("uniform", 0, 1), "y": ("uniform", 0, 1), "w": ("normal", 0, 1), "sigma": ("halfnormal", 0.2)}
START = {"x": 0.4, "y": 0.7, "w": 0.2, "sigma": 0.05}
LINE = np.linspace(-2.5, 2.5, 9)
LINE_SD = 0.15
RATES = {"a": ("lognormal", 0, 1), "k": ("lognormal", 0, 1), "b": ("lognormal", 0, 1), "l": ("lognormal", 0, 1)}


def folded(x: Array) -> Array:
    """The sensors' heat where the plate is nearly symmetrical about y = 1 / 2."""
    across = (np.abs(x[1] - 0.5) - np.abs(SENSORS[:, 1] - 0.5)) ** 2 + 0.02 * (x[1] - 0.5) * (SENSORS[:, 1] - 0.5)
    return np.asarray(np.exp(x[2] - ((SENSORS[:, 0] - x[0]) ** 2 + across) / 0.1))


def reflected(x: Array) -> Array:
    """The same where a source has a mirror image that is 4% weaker."""
    along = (SENSORS[:, 0] - x[0]) ** 2
    own, image = (np.exp(-(along + (y - SENSORS[:, 1]) ** 2) / 0.1) for y in (x[1], 1.0 - x[1]))
    return np.asarray(np.exp(x[2]) * (own + 0.96 * image))


def exchanged(x: Array) -> Array:
    """A sum of two exponentials."""
    return np.asarray(x[0] * np.exp(-x[1] * TIMES) + x[2] * np.exp(-x[3] * TIMES))


def imaged(x: Array) -> Array:
    """A source of amplitude exp(x0) at x1 on a line, and its weaker image at -x1: outputs (9,), or (..., 9)."""
    own, image = (np.exp(-((LINE - np.asarray(place)[..., None]) ** 2) / 0.5) for place in (x[1], -x[1]))
    return np.asarray(np.exp(x[0])[..., None] * (own + 0.85 * image))


def imaged_data(k: int) -> Array:
    """Data of `imaged` at a draw of the prior of `imaging`."""
    rng = stream(25, "calibration", "modes", str(k))
    return imaged(rng.normal(0.0, (0.5, 1.0))) + LINE_SD * rng.standard_normal(len(LINE))


def imaging(k: int) -> rnshmc.Model:
    prior = {"a": ("normal", 0.0, 0.5), "y": ("normal", 0.0, 1.0)}
    return rnshmc.Model(imaged, imaged_data(k), likelihood=rnshmc.Gaussian(sd=LINE_SD), prior=prior)


def source(forward: Callable[[Array], Array]) -> rnshmc.Model:
    data = forward(np.array([0.4, 0.7, 0.3])) + 0.05 * np.random.default_rng(1).standard_normal(len(SENSORS))
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd="sigma"), prior=SOURCE)


def rates() -> rnshmc.Model:
    data = exchanged(np.array([2.0, 0.3, 1.5, 2.0])) + 0.03 * np.random.default_rng(3).standard_normal(len(TIMES))
    return rnshmc.Model(exchanged, data, likelihood=rnshmc.Gaussian(sd=0.03), prior=RATES)


def rise() -> rnshmc.Model:
    """A saturating rise, which has one mode."""
    minutes = np.arange(1.0, 25.0)

    def warming(x: Array) -> Array:
        return np.asarray(x[0] * (1.0 - np.exp(-x[1] * minutes)))

    data = warming(np.array([5.2, 0.21])) + 0.3 * np.random.default_rng(5).standard_normal(len(minutes))
    prior = {"rise": ("lognormal", 1, 0.5), "rate": ("lognormal", -1.5, 0.7), "noise": ("halfnormal", 1)}
    return rnshmc.Model(warming, data, likelihood=rnshmc.Gaussian(sd="noise"), prior=prior)


CASES: dict[str, tuple[Callable[[], rnshmc.Model], dict[str, float], int]] = {
    "folded plate": (lambda: source(folded), START, 2),
    "reflected source": (lambda: source(reflected), START, 2),
    "two exponentials": (rates, {"a": 2.0, "k": 0.4, "b": 1.0, "l": 1.5}, 2),
    "line": (lambda: imaging(26), {"a": 0.0, "y": 1.0}, 2),
    "rise": (rise, {"rise": 5.0, "rate": 0.5, "noise": 0.5}, 1),
}
"""Models, starts, in the larger mode of a plate and of two exponentials, and numbers of modes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--models", nargs="+", default=list(CASES), choices=CASES)
    arguments = parser.parse_args()
    seeds = range(1, 1 + arguments.seeds)
    print(
        "| model | start | missed | good | runs, median (largest) | of the search | without it | share of the smaller |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.models:
        make, one, count = CASES[name]
        model = make()
        alone = [rnshmc.sample(model, one, modes=False, seed=seed, progress_bar=False).spent.units for seed in seeds]
        for start in (one, None):
            found = [rnshmc.sample(model, start, seed=seed, progress_bar=False) for seed in seeds]
            units = [run.spent.units for run in found]
            whole = [run for run in found if len(run.outcome.modes) >= count]
            shares = [min(float(mode.share.value) for mode in run.outcome.modes) for run in whole if count > 1]
            good = sum(run.verdict.level == "good" for run in found)
            cells = (
                name,
                "none" if start is None else "one",
                f"{len(found) - len(whole)} of {len(found)}",
                good,
                f"{np.median(units):.0f} ({max(units)})",
                f"{np.median([run.outcome.surveyed for run in found]):.0f}",
                f"{np.median(alone):.0f}",
                f"{min(shares, default=np.nan):.4f} to {max(shares, default=np.nan):.4f}",
            )
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
