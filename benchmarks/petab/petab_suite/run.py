"""One run of one sampler on one PEtab problem: python -m petab_suite.run --problem F/NAME --build B --sampler P ..."""

import argparse
import json
import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from peers.counted import Counted
from peers.run import run
from petab_suite.problem import make_problem
from petab_suite.samplers import adaptive_metropolis, adaptive_tempering, rnshmc_gradient

SAMPLERS = {
    "rnshmc": ("rnshmc", rnshmc_gradient),
    "adaptive_tempering": ("pypesto", adaptive_tempering),
    "adaptive_metropolis": ("pypesto", adaptive_metropolis),
}
"""Distribution and function of each sampler."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sampler", choices=SAMPLERS, required=True)
    for option in ("problem", "build", "output"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    for option in ("seed", "max-units", "max-seconds"):
        parser.add_argument(f"--{option}", type=int, required=True)
    given = parser.parse_args(arguments)
    logging.getLogger("amici").setLevel(logging.CRITICAL)  # a simulation that fails is counted, not printed
    distribution, sampler = SAMPLERS[given.sampler]
    problem = make_problem(given.problem, given.build, given.max_seconds)
    result = run(sampler, problem, Counted(problem.potential, given.max_units), given.seed, given.max_seconds)
    named = {"peer": given.sampler, "problem": given.problem.name, "dim": problem.dim, "seed": given.seed}
    given.output.write_text(json.dumps({**named, "version": version(distribution), **result}, indent=1))


if __name__ == "__main__":
    main()
