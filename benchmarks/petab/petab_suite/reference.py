"""Reference moments by long runs: python -m petab_suite.reference --problem F/NAME --build B --output O ...

Chains of pyPESTO's adaptive Metropolis, or of its adaptive parallel tempering where there are several modes, from
starts around the nominal values, are prolonged until R-hat and the effective sample size are those of a reference.
Their proposals are adapted in a pilot run, from the Laplace approximation at the nominal values on, and kept after it:
chains that go on adapting to their latest states, as by default, have variances that are too small. Where the seconds
are spent first, the file says so, and is no reference.
"""

import argparse
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import arviz
import numpy as np
import pypesto.sample
from peers.counted import Counted
from peers.measures import Moments, chain_draws
from peers.reference import ENOUGH
from petab_suite.moments import LARGEST_RHAT, LEAST, QUANTILES, Reference
from petab_suite.problem import PetabProblem, make_problem
from petab_suite.samplers import FIRST, TEMPERATURES

from rnshmc.types import Array

SEED = 20170913
AROUND = 0.02
"""Part of the way from the nominal values to a uniform draw from the box, on which a chain starts."""
UNLIMITED = 10**9
CHAINS = 4
PILOT = 8000
"""Iterations that adapt proposals and temperatures, and are left out."""
SETTINGS = {"decay_constant": 0.8, "threshold_sample": 1000}
"""By default the covariance of proposals is that of the last hundred states or so, which are correlated."""
STEP = 1e-4
"""Of differences of gradients, as a part of the box."""
WIDEST = 0.25
"""Standard deviation of a direction that the data leave open, as a part of the box."""


class Metropolis(pypesto.sample.AdaptiveMetropolisSampler):  # type: ignore[misc]
    """pyPESTO's adaptive Metropolis with proposals that are kept after the pilot run."""

    def _update_proposal(self, x: Array, lpost: float, log_p_acc: float, n_sample_cur: int) -> None:
        if n_sample_cur <= PILOT:
            super()._update_proposal(x, lpost, log_p_acc, n_sample_cur)


class Tempering(pypesto.sample.AdaptiveParallelTemperingSampler):  # type: ignore[misc]
    """pyPESTO's adaptive parallel tempering with temperatures that are kept after the pilot run."""

    def adjust_betas(self, i_sample: int, swapped: Sequence[bool]) -> None:
        if len(self.samplers[0].trace_x) <= PILOT:
            super().adjust_betas(i_sample, swapped)


def _metropolis(settings: dict[str, Any]) -> pypesto.sample.Sampler:
    return Metropolis({**settings, "show_progress": False})


def _tempering(settings: dict[str, Any]) -> pypesto.sample.Sampler:
    return Tempering(_metropolis(settings), n_chains=TEMPERATURES, options={"show_progress": False})


SAMPLERS = {"metropolis": _metropolis, "tempering": _tempering}


@dataclass(frozen=True)
class Long:
    """Chains and what they took."""

    chains: Array
    """Without the pilot run, (chains, n, d)."""
    simulations: int


def long_runs(problem: PetabProblem, make_sampler: Callable[[dict[str, Any]], pypesto.sample.Sampler]) -> Long:
    """Chains until they are a reference, or the seconds of the problem are spent."""
    np.random.seed(SEED)  # noqa: NPY002 pyPESTO draws from the global state
    rng, target, started = np.random.default_rng(SEED), Counted(problem.potential, UNLIMITED), process_time()
    proposals = {**SETTINGS, "cov0": 2.38**2 / problem.dim * laplace_covariance(problem, target)}
    samplers = [make_sampler(proposals) for _ in range(CHAINS)]
    for sampler in samplers:
        sampler.initialize(problem.counted(target), _start(problem, target, rng))
    more = PILOT + FIRST
    while True:
        for sampler in samplers:
            sampler.sample(more)
        kept = np.stack([sampler.get_samples().trace_x[0][PILOT + 1 :] for sampler in samplers])
        print(f"{kept.shape[1]} iterations, R-hat {rhat(kept):.3f}, draws {chain_draws(kept)}", flush=True)
        # The next round takes half as long as everything so far.
        if enough(kept) or 1.6 * (process_time() - started) > problem.max_seconds:
            return Long(kept, target.units)
        more = kept.shape[1] // 2


def _start(problem: PetabProblem, target: Counted, rng: np.random.Generator) -> Array:
    """A point around the nominal values that can be simulated."""
    for _ in range(100):
        start = problem.start + AROUND * (rng.uniform(problem.low, problem.high) - problem.start)
        if np.isfinite(target.log_density(start)):
            return start
    return problem.start


def laplace_covariance(problem: PetabProblem, target: Counted) -> Array:
    """Inverse of the Hessian at the nominal values, its eigenvalues bounded from below by the box."""
    width = problem.high - problem.low
    inward = np.where(problem.start > 0.5 * (problem.low + problem.high), -STEP, STEP)
    _, here = target.log_density_and_gradient(problem.start)
    steps = np.diag(inward * width)
    slopes = np.array([here - target.log_density_and_gradient(problem.start + step)[1] for step in steps])
    hessian = slopes * width / inward[:, None]
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    covariance: Array = (vectors / np.maximum(values, WIDEST**-2)) @ vectors.T
    return width[:, None] * covariance * width


def rhat(chains: Array) -> float:
    """The largest rank-normalised split R-hat of a coordinate."""
    return max(float(arviz.rhat(chains[:, :, k])) for k in range(chains.shape[2]))


def enough(chains: Array) -> bool:
    """Whether chains are as good as `ENOUGH` independent draws."""
    return rhat(chains) < LARGEST_RHAT and min(chain_draws(chains)) >= ENOUGH


def summarised(long: Long, names: Sequence[str]) -> Reference:
    """Moments with their Monte Carlo errors, and quantiles."""
    pooled = long.chains.reshape(-1, long.chains.shape[2])
    moments, draws, largest = Moments.of(pooled), chain_draws(long.chains), rhat(long.chains)
    squares = (long.chains - moments.mean) ** 2
    errors = [
        [float(arviz.mcse(values[:, :, k], method="mean")) for k in range(pooled.shape[1])]
        for values in (long.chains, squares)
    ]
    return Reference(
        names=list(names),
        mean=moments.mean.tolist(),
        variance=moments.variance.tolist(),
        kurtosis=moments.kurtosis.tolist(),
        mean_error=errors[0],
        variance_error=errors[1],
        quantiles=np.quantile(pooled, QUANTILES, axis=0).tolist(),
        draws=list(draws),
        rhat=largest,
        simulations=long.simulations,
        converged=largest < LARGEST_RHAT and min(draws) >= LEAST,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("problem", "build", "output"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    parser.add_argument("--sampler", choices=SAMPLERS, required=True)
    parser.add_argument("--max-seconds", type=int, required=True)
    arguments = parser.parse_args()
    logging.getLogger("amici").setLevel(logging.CRITICAL)
    problem = make_problem(arguments.problem, arguments.build, arguments.max_seconds)
    names = [problem.posed.x_names[i] for i in problem.posed.x_free_indices]
    made = summarised(long_runs(problem, SAMPLERS[arguments.sampler]), names)
    arguments.output.write_text(json.dumps(asdict(made), indent=1) + "\n")


if __name__ == "__main__":
    main()
