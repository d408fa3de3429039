"""`rnshmc.sample` and the samplers of pyPESTO on a PEtab problem, as their users call them."""

from dataclasses import dataclass, replace
from time import process_time

import numpy as np
import pypesto.sample
from peers.counted import Counted
from peers.gradient_peers import chain_outcome
from peers.measures import chain_draws
from peers.our_peers import outcome_of
from peers.outcome import Outcome
from peers.problems import Problem
from petab_suite.problem import PetabProblem
from pypesto.sample.geweke_test import burn_in_by_sequential_geweke

import rnshmc.pypesto
from rnshmc.types import Array

TEMPERATURES = 3
"""Tempered chains, as in the examples of pyPESTO."""
FIRST = 4000
"""Iterations after which a chain is looked at first; then each time that it has doubled."""
TELLING = 500
"""Effective draws from which the simulations until the goal are extrapolated."""
SLOWER = 2.2
"""A chain is not doubled where so many times its seconds would exceed the limit."""
LATEST = 0.75
"""Share of a chain beyond which an end of the burn-in leaves too little."""


def rnshmc_gradient(target: Counted, problem: Problem, seed: int) -> Outcome:
    """`rnshmc.pypesto.Sampler` with gradients of AMICI, 2000 draws: errors are to be those of 1000 independent ones."""
    assert isinstance(problem, PetabProblem)
    sampler = rnshmc.pypesto.Sampler(seed=seed, budget=target.max_units, progress_bar=False)
    pypesto.sample.sample(problem.counted(target), None, sampler, x0=problem.start)
    assert sampler.result is not None
    print(sampler.result)
    return outcome_of(sampler.result, problem)


def adaptive_tempering(target: Counted, problem: Problem, seed: int) -> Outcome:
    """pyPESTO's adaptive parallel tempering of `TEMPERATURES` adaptive Metropolis chains."""
    sampler = pypesto.sample.AdaptiveParallelTemperingSampler(
        pypesto.sample.AdaptiveMetropolisSampler(), n_chains=TEMPERATURES, options={"show_progress": False}
    )
    return _until_goal(sampler, TEMPERATURES, target, problem, seed)


def adaptive_metropolis(target: Counted, problem: Problem, seed: int) -> Outcome:
    """pyPESTO's adaptive Metropolis."""
    sampler = pypesto.sample.AdaptiveMetropolisSampler({"show_progress": False})
    return _until_goal(sampler, 1, target, problem, seed)


def _until_goal(sampler: pypesto.sample.Sampler, chains: int, target: Counted, problem: Problem, seed: int) -> Outcome:
    """A chain that is doubled until it has `TELLING` effective draws after its burn-in, or its limits end it."""
    assert isinstance(problem, PetabProblem)
    np.random.seed(seed)  # noqa: NPY002 pyPESTO draws from the global state
    started = process_time()
    sampler.initialize(problem.counted(target), problem.start)
    more, kept = FIRST, Kept(np.zeros((0, target.dim)), 0.0, converged=False)
    while more > 0 and SLOWER * (process_time() - started) < problem.max_seconds:
        sampler.sample(more)
        chain = sampler.get_samples().trace_x[0]
        kept = after_burn_in(chain)
        if kept.converged and min(chain_draws(_halves(kept.draws))) >= TELLING:
            break
        more = min(len(chain), (target.max_units - target.units) // chains)
    found = chain_outcome(_halves(kept.draws), kept.burn_in * target.units)
    burn_in = f"burn-in {kept.burn_in:.0%}" if kept.converged else "no burn-in by Geweke's test"
    return replace(found, says=f"{found.says}, {burn_in}", says_good=found.says_good and kept.converged)


@dataclass(frozen=True)
class Kept:
    """A chain after its burn-in."""

    draws: Array
    """Shape (n, d)."""
    burn_in: float
    """Share of the chain that was left out."""
    converged: bool
    """Whether Geweke's test found an end of the burn-in; if not, half is left out."""


def after_burn_in(chain: Array) -> Kept:
    """A chain (n, d) after the burn-in that pyPESTO finds for its users, by Geweke's test."""
    first = int(burn_in_by_sequential_geweke(chain))
    converged = first <= LATEST * len(chain)
    first = first if converged else len(chain) // 2
    return Kept(chain[first:], first / len(chain), converged)


def _halves(draws: Array) -> Array:
    """Shape (2, n / 2, d)."""
    half = len(draws) // 2
    return np.stack([draws[:half], draws[half : 2 * half]])
