"""One run of one sampler on one posterior: python -m posteriordb.run --folder F/NAME --dim FILE --sampler P ..."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np
from peers.counted import Counted
from peers.gradient_peers import CHAINS, DRAWS, WARMUP, chain_outcome, nutpie_low_rank
from peers.our_peers import rnshmc_gradient
from peers.outcome import Outcome
from peers.problems import Problem
from peers.run import Peer, run
from posteriordb.database import Posterior, read
from posteriordb.program import RemoteProgram

from rnshmc.types import Array

WIDE = 10.0
NOT_COMPILED = "does not compile"


@dataclass(frozen=True)
class StanProblem(Problem):
    """A posterior of the database, from uniform(-1, 1) for each unconstrained parameter."""

    posterior: Posterior = field(kw_only=True)

    def starts(self, rng: np.random.Generator, n: int) -> Array:
        return rng.uniform(-1.0, 1.0, (n, self.dim))


def problem(folder: Path, dim: int) -> StanProblem:
    """The posterior in a folder, ready to be sampled."""
    program, ones = RemoteProgram(folder, dim), np.ones(dim)
    return StanProblem(
        potential=program,
        start=np.zeros(dim),
        spread=1.0,
        low=-WIDE * ones,
        high=WIDE * ones,
        scale=ones,
        variables=program.variables,
        posterior=read(folder.parent, folder.name),
    )


def stan_nuts(target: Counted, problem: Problem, seed: int) -> Outcome:
    """Stan's own NUTS with its defaults, by PyStan, from starts of its own."""
    import stan

    assert isinstance(problem, StanProblem)
    posterior = problem.posterior
    model = stan.build(posterior.code, data=posterior.data, random_seed=seed)
    fit = model.sample(num_chains=CHAINS, num_samples=DRAWS, num_warmup=WARMUP, save_warmup=True)
    steps = fit["n_leapfrog__"].reshape(WARMUP + DRAWS, CHAINS)
    target.spent_elsewhere(int(steps.sum()))
    chains = np.stack([_column(fit, name) for name in posterior.names], axis=-1)[WARMUP:]
    return chain_outcome(chains.swapaxes(0, 1), target.units * float(steps[:WARMUP].sum() / steps.sum()))


def _column(fit: Mapping[str, Array], name: str) -> Array:
    """All draws of a scalar by the name that Stan prints, ``beta[1]``: shape (iterations, chains)."""
    variable, _, index = name.partition("[")
    place = tuple(int(i) - 1 for i in index.rstrip("]").split(",")) if index else (0,) * (fit[variable].ndim - 1)
    column: Array = fit[variable][place].reshape(-1, CHAINS)
    return column


SAMPLERS: dict[str, tuple[str, Peer]] = {
    "rnshmc": ("rnshmc", rnshmc_gradient),
    "nutpie_low_rank": ("nutpie", nutpie_low_rank),
    "stan_nuts": ("httpstan", stan_nuts),
}
"""Distribution and function of each sampler."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sampler", choices=SAMPLERS, required=True)
    for option in ("folder", "dim", "output"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    for option in ("seed", "max-units", "max-seconds"):
        parser.add_argument(f"--{option}", type=int, required=True)
    given = parser.parse_args(arguments)
    distribution, sampler = SAMPLERS[given.sampler]
    dim = int(given.dim.read_text())
    if dim:
        of = problem(given.folder, dim)
        result = run(sampler, of, Counted(of.potential, given.max_units), given.seed, given.max_seconds)
    else:
        result = {"units": 0, "failed": 0, "overhead_s": 0.0, "target_s": 0.0, "ended": NOT_COMPILED, "outcome": None}
    named = {"peer": given.sampler, "problem": given.folder.name, "dim": dim, "seed": given.seed}
    given.output.write_text(json.dumps({**named, "version": version(distribution), **result}, indent=1))


if __name__ == "__main__":
    main()
