"""Evaluation units, errors and verdicts of `rnshmc.sample` on bent densities with known moments, by seed.

    scripts/in-env.sh python benchmarks/bends.py [--seeds 20] [problem ...]

Starts are those of benchmarks/peers. z-scores are the largest of means and of variances, over the coordinates.
"""

import argparse

import numpy as np
from peers.known_laws import Banana, Funnel, KnownMoments, LogGamma, Student, TwistedGaussian
from threadpoolctl import threadpool_limits

import rnshmc

PROBLEMS: dict[str, KnownMoments] = {
    "twisted": TwistedGaussian(),
    "funnel": Funnel(6),
    "funnel10": Funnel(10),
    "banana": Banana(),
    "log_gamma": LogGamma(),
    "student": Student(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("problems", nargs="*", metavar="problem", default=list(PROBLEMS))
    options = parser.parse_args()
    for name in options.problems:
        problem = PROBLEMS[name]
        for seed in range(1, options.seeds + 1):
            start = 0.1 * np.random.default_rng(seed).standard_normal(problem.dim)
            result = rnshmc.sample(problem, start, seed=seed, progress_bar=False)
            outcome = result.outcome
            means = np.abs(outcome.mean.value - problem.mean) / outcome.mean.standard_error
            variances = np.abs(outcome.variance.value - problem.variance) / outcome.variance.standard_error
            print(
                f"{name} {seed}: {result.spent.units} units, {outcome.method}, {result.verdict.level}, "
                f"z of means {means.max():.1f}, of variances {variances.max():.1f}",
                flush=True,
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
