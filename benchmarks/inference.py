"""Evaluation units of `rnshmc.inference` on paper A's regressions and on laws with closed forms, by seed.

Run in the project's folder after data/processed/{bank,a9a,lr_simulated}.npz were made; takes about ten minutes:

    scripts/in-env.sh python benchmarks/inference.py [--seeds 5] [problem ...]

The last line of a problem reports the number of independent draws whose means and variances would spread as much over
the seeds. It excludes errors common to all seeds; if there are closed forms, another line compares with them, and
counts runs with a good verdict and a variance that is off by more than three standard errors.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from peers.known_laws import Banana, KnownMoments, LogGamma, Logistic, SkewNormal, Student, TwistedGaussian
from threadpoolctl import threadpool_limits

from rnshmc.inference.algorithm import run
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.target import make_model
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.transforms import make_transform
from rnshmc.random import stream
from rnshmc.targets.logistic import from_file
from rnshmc.types import Potential

FAR_OFF = 3.0
"""Standard errors by which no variance of a good run should be off."""
DRAWS = 2000


def _regression(name: str) -> Potential:
    return from_file(f"data/processed/{name}.npz", prior_sd=10.0)


PROBLEMS: dict[str, Callable[[], Potential]] = {
    "bank": lambda: _regression("bank"),
    "lr_simulated": lambda: _regression("lr_simulated"),
    "a9a": lambda: _regression("a9a"),
    "log_gamma": LogGamma,
    "banana": Banana,
    "student": Student,
    "twisted": TwistedGaussian,
    "skew": lambda: SkewNormal(6),
    "logistic": lambda: Logistic(6),
}


def _evaluations(potential: Potential) -> Evaluations:
    names = [f"x{i}" for i in range(potential.dim)]
    workers = make_workers(None, make_model(potential, None, potential.dim), time_limit=None)
    return Evaluations(workers, make_transform(None, names))


def _measured(name: str, potential: Potential, seed: int) -> Outcome:
    begun = time.perf_counter()
    start = np.zeros(potential.dim)
    outcome = run(Archive.of(_evaluations(potential)), start, draws=DRAWS, rng=stream(seed, "benchmark", name))
    stages = ", ".join(f"{stage} {spent.units}" for stage, spent in outcome.by_stage.items())
    print(
        f"{name} {seed}: {outcome.method}, {outcome.spent.units} units ({stages}), "
        f"sd(U - V) {outcome.surrogate_error:.2f}, Pareto k {outcome.pareto_k:.2f}, "
        f"{_level(outcome)}, {time.perf_counter() - begun:.0f} s",
        flush=True,
    )
    return outcome


def _level(outcome: Outcome) -> str:
    return judge(outcome, [f"x{i}" for i in range(len(outcome.mean.value))]).level


def _spread(outcomes: list[Outcome]) -> str:
    variances = np.array([outcome.variance.value for outcome in outcomes])
    means = np.array([outcome.mean.value for outcome in outcomes]) / np.sqrt(variances.mean(axis=0))
    by_means = 1.0 / means.var(axis=0, ddof=1).mean()
    # The relative variance of a sample variance of n normal draws is 2 / n.
    by_variances = 2.0 / (variances / variances.mean(axis=0)).var(axis=0, ddof=1).mean()
    return f"spread of means {by_means:.0f} draws, of variances {by_variances:.0f}"


def _errors(outcomes: list[Outcome], exact: KnownMoments) -> str:
    """Against closed forms: mean squared errors in units of standard errors, and the median error of variances."""
    of_means = [(one.mean.value - exact.mean) / one.mean.standard_error for one in outcomes]
    of_variances = [(one.variance.value - exact.variance) / one.variance.standard_error for one in outcomes]
    bias = np.median([one.variance.value / exact.variance - 1.0 for one in outcomes], axis=0)
    good = np.array([_level(one) == "good" for one in outcomes])
    off = np.abs(of_variances).max(axis=1) > FAR_OFF
    return (
        f"mean squared z of means {np.square(of_means).mean():.2f}, of variances {np.square(of_variances).mean():.2f}; "
        f"variances off by {bias.min():+.1%} to {bias.max():+.1%}; "
        f"{good.sum()} of {len(good)} good, {off.sum()} far off, {(good & off).sum()} of those good"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("problems", nargs="*", metavar="problem", default=list(PROBLEMS))
    settings = parser.parse_args()
    for name in settings.problems:
        potential = PROBLEMS[name]()
        outcomes = [_measured(name, potential, seed) for seed in range(settings.seeds)]
        print(f"{name}: {_spread(outcomes)}", flush=True)
        if isinstance(potential, KnownMoments):
            print(f"{name}: {_errors(outcomes, potential)}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
