"""Which settings that paper B does not print give its Table 5: prior, trajectory length, step size, scale of columns.

For each data set and each candidate, the step size is such that HMC is accepted as often as the paper prints, the
trajectories of no step among them as there (floor(u L) steps, u uniform). Then HMC's effective sample sizes, of 10000
draws and by the published implementation's definition, stand beside the printed ones; `miss` is the root mean square of
the logarithms of their ratios. So that hundreds of candidates take minutes, the posterior is its normal approximation
at the mode, in whose principal axes leapfrog costs next to nothing; what is chosen has to be confirmed by a chain.

`cost` is what an iteration costs, in steps on average times the size of the data, relative to News with L = 50; the
printed seconds stand in the row of the paper, relative to those of News.

    cd <a folder with data/processed/{news,census,dota2}.npz>; python benchmarks/table5_settings.py
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits

from rnshmc.diagnostics.ess import truncated_ess
from rnshmc.targets.checks import read_arrays
from rnshmc.types import Array

DRAWS, PAPER_DRAWS = 5000, 10_000
BEST = 6
UNIT_LENGTH, UNIT_SIZE = 50, 39644 * 44
"""Trajectories and size of the data, News, whose cost is 1."""
PRIOR_SDS = (10.0, 3.0, 1.0, 0.3, 0.14, 0.1, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005)
LENGTHS = (4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
"""L: a trajectory has 0 to L - 1 steps."""


class Printed(NamedTuple):
    """What Table 5 prints of HMC, and the size of the data."""

    acceptance: float
    sizes: tuple[float, float, float]
    seconds: float


class Candidate(NamedTuple):
    """A setting with what it gives."""

    scale: str
    prior_sd: float
    length: int
    step_size: float
    acceptance: float
    sizes: Array
    miss: float
    cost: float


PAPER = {
    "news": Printed(0.77, (777, 2021, 5929), 3607),
    "census": Printed(0.84, (6306, 9390, 10000), 1796),
    "dota2": Printed(0.75, (1677, 5519, 8621), 20760),
}


def designs(X: Array) -> Iterator[tuple[str, Array]]:
    """The columns standardised, and between 0 and 1, whichever they are as they are stored."""
    width, sd = np.ptp(X, axis=0), X.std(axis=0)
    yield "standard", (X - X.mean(axis=0)) / np.where(width > 0, sd, 1.0)
    yield "0 to 1", (X - X.min(axis=0)) / np.where(width > 0, width, 1.0)


def precision_at_mode(X: Array, y: Array, prior_sd: float) -> Array:
    """Second derivatives of the potential at its minimum, shape (d, d)."""
    q = np.zeros(X.shape[1])
    for _ in range(50):
        p = expit(X @ q)
        hessian = (X * (p * (1.0 - p))[:, np.newaxis]).T @ X + np.eye(len(q)) / prior_sd**2
        step = np.linalg.solve(hessian, X.T @ (p - y) + q / prior_sd**2)
        q = q - step
        if np.abs(step).max() < 1e-8 * (1.0 + np.abs(q).max()):
            break
    return np.asarray(hessian)


def end(x: Array, p: Array, precision: Array, step_size: float, n_steps: int) -> tuple[Array, Array]:
    """Leapfrog on independent coordinates."""
    for _ in range(n_steps):
        p = p - 0.5 * step_size * precision * x
        x = x + step_size * p
        p = p - 0.5 * step_size * precision * x
    return x, p


def acceptance(precision: Array, step_size: float, length: int, n: int = 1500) -> float:
    """Mean acceptance probability from exact draws, over numbers of steps from 0 to length - 1."""
    rng = np.random.default_rng(1)
    probabilities = []
    for n_steps in range(length) if length <= 20 else rng.integers(0, length, 20):
        x = rng.standard_normal((max(100, n // length), len(precision))) / np.sqrt(precision)
        p = rng.standard_normal(x.shape)
        x1, p1 = end(x, p, precision, step_size, int(n_steps))
        change = 0.5 * ((precision * (x1**2 - x**2)).sum(axis=1) + (p1**2 - p**2).sum(axis=1))
        probabilities.append(np.exp(-np.maximum(change, 0.0)).mean())
    return float(np.mean(probabilities))


def tuned(precision: Array, length: int, target: float) -> float:
    """The step size at which acceptance is the target's, by bisection."""
    low, high = np.array([0.02, 1.999]) / np.sqrt(precision.max())
    for _ in range(10):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if acceptance(precision, middle, length) > target else (low, middle)
    return float(np.sqrt(low * high))


def chain(precision: Array, axes: Array, step_size: float, length: int) -> tuple[float, Array]:
    """Share of accepted proposals, and effective sample sizes of the coefficients in `PAPER_DRAWS` draws."""
    rng = np.random.default_rng(2)
    x, accepted = rng.standard_normal(len(precision)) / np.sqrt(precision), 0
    draws = np.empty((DRAWS, len(precision)))
    for i in range(DRAWS):
        p = rng.standard_normal(len(precision))
        x1, p1 = end(x, p, precision, step_size, int(rng.integers(length)))
        change = 0.5 * ((precision * (x1**2 - x**2)).sum() + (p1**2 - p**2).sum())
        if rng.uniform() < np.exp(-max(change, 0.0)):
            x, accepted = x1, accepted + 1
        draws[i] = x
    sizes = truncated_ess(draws @ axes.T) * PAPER_DRAWS / DRAWS
    return accepted / DRAWS, np.array([sizes.min(), np.median(sizes), sizes.max()])


def candidates(name: str, prior_sds: tuple[float, ...], lengths: tuple[int, ...]) -> list[Candidate]:
    """Every setting of a data set, the nearest to the paper first."""
    X, y = read_arrays(Path(f"data/processed/{name}.npz"), "X", "y")
    printed, found = PAPER[name], []
    for scale, design in (("as stored", X), *designs(X)):
        for prior_sd in prior_sds:
            precision, axes = np.linalg.eigh(precision_at_mode(design, y, prior_sd))
            for length in lengths:
                step_size = tuned(precision, length, printed.acceptance)
                accepted, sizes = chain(precision, axes, step_size, length)
                miss = float(np.sqrt(np.mean(np.log(sizes / printed.sizes) ** 2)))
                cost = (length - 1) / (UNIT_LENGTH - 1) * X.size / UNIT_SIZE
                found.append(Candidate(scale, prior_sd, length, step_size, accepted, sizes, miss, cost))
    return sorted(found, key=lambda candidate: candidate.miss)


def line(candidate: Candidate) -> str:
    """A row of the table."""
    sizes = " ".join(f"{size:6.0f}" for size in candidate.sizes)
    return (
        f"  {candidate.scale:10}{candidate.prior_sd:9g}{candidate.length:5d}{candidate.step_size:11.2g}"
        f"{candidate.acceptance:7.2f}   {sizes}   {candidate.miss:.2f}{candidate.cost:8.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PAPER))
    parser.add_argument("--prior-sds", nargs="*", type=float, default=PRIOR_SDS)
    parser.add_argument("--lengths", nargs="*", type=int, default=LENGTHS)
    parser.add_argument("--best", type=int, default=BEST)
    args = parser.parse_args()
    for name in args.names:
        print(f"{name}\n  columns    prior sd    L  step size     AP   ESS of HMC             miss    cost")
        print(
            f"  paper{PAPER[name].acceptance:37.2f}   "
            + " ".join(f"{size:6.0f}" for size in PAPER[name].sizes)
            + f"{PAPER[name].seconds / PAPER['news'].seconds:15.2f}"
        )
        for candidate in candidates(name, tuple(args.prior_sds), tuple(args.lengths))[: args.best]:
            print(line(candidate), flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
