"""Evaluation units, errors, verdicts and seconds of `rnshmc.sample` on bent densities, by seed.

    scripts/in-env.sh python benchmarks/bends.py [--seeds 20] [problem ...]

Starts are those of benchmarks/peers. z-scores are the largest of means and of variances, over the coordinates. Moments
are known, or those of a million independent draws.
"""

import argparse
import time

import numpy as np
from peers.hierarchies import EightSchools, Hospitals
from peers.known_laws import Banana, Funnel, KnownMoments, Law, LogGamma, Student, TwistedGaussian
from peers.measures import Moments
from threadpoolctl import threadpool_limits

import rnshmc
from rnshmc.types import Array

PROBLEMS: dict[str, Law] = {
    "twisted": TwistedGaussian(),
    "funnel": Funnel(6),
    "funnel10": Funnel(10),
    "banana": Banana(),
    "log_gamma": LogGamma(),
    "student": Student(),
    "eight_schools": EightSchools(centred=False),
    "eight_schools_centred": EightSchools(centred=True),
    "hospitals": Hospitals(centred=False),
    "hospitals_centred": Hospitals(centred=True),
}


def moments(problem: Law) -> tuple[Array | float, Array | float]:
    """Means and variances."""
    if isinstance(problem, KnownMoments):
        return problem.mean, problem.variance
    found = Moments.of(problem.sample(np.random.default_rng(0), 1_000_000))
    return found.mean, found.variance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("problems", nargs="*", metavar="problem", default=list(PROBLEMS))
    options = parser.parse_args()
    for name in options.problems:
        problem = PROBLEMS[name]
        mean, variance = moments(problem)
        for seed in range(1, options.seeds + 1):
            start = 0.1 * np.random.default_rng(seed).standard_normal(problem.dim)
            began = time.process_time()
            result = rnshmc.sample(problem, start, seed=seed, progress_bar=False)
            outcome = result.outcome
            means = np.abs(outcome.mean.value - mean) / outcome.mean.standard_error
            variances = np.abs(outcome.variance.value - variance) / outcome.variance.standard_error
            print(
                f"{name} {seed}: {result.spent.units} units, {outcome.method}, {result.verdict.level}, "
                f"z of means {means.max():.1f}, of variances {variances.max():.1f}, "
                f"{time.process_time() - began:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
