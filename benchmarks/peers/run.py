"""One run of one peer on one problem: python -m peers.run --peer P --problem Q --seed S --data D --output O."""

import argparse
import json
import traceback
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from peers.counted import BudgetError, Counted
from peers.limit import TimeLimitError, time_limit
from peers.outcome import Outcome
from peers.problems import Problem, make_problem

PEERS = {
    "rnshmc_gradient": ("rnshmc", "peers.our_peers"),
    "rnshmc_values": ("rnshmc", "peers.our_peers"),
    "rnshmc_model": ("rnshmc", "peers.our_peers"),
    "nutpie_diagonal": ("nutpie", "peers.gradient_peers"),
    "nutpie_low_rank": ("nutpie", "peers.gradient_peers"),
    "blackjax_nuts": ("blackjax", "peers.gradient_peers"),
    "mici_nuts": ("mici", "peers.gradient_peers"),
    "laplace_metropolis": ("scipy", "peers.laplace_peers"),
    "laplace_importance": ("arviz", "peers.laplace_peers"),
    "emcee_stretch": ("emcee", "peers.value_peers"),
    "tinyda_adaptive": ("tinyDA", "peers.value_peers"),
    "nautilus_nested": ("nautilus-sampler", "peers.value_peers"),
    "pyvbmc_variational": ("pyvbmc", "peers.value_peers"),
    "gpry_surrogate": ("gpry", "peers.value_peers"),
    "bayesfast_quadratic": ("bayesfast", "peers.emulator_peers"),
    "bayesfast_importance": ("bayesfast", "peers.emulator_peers"),
}
"""Distribution and module of each peer, a function of its name."""
Peer = Callable[[Counted, Problem, int], Outcome]


def run(peer: Peer, problem: Problem, target: Counted, seed: int, max_seconds: int) -> dict[str, Any]:
    """Result of a run, ready for JSON: what was spent, and the outcome or why there is none.

    The overhead, and the limit ``max_seconds``, are in processor time of this process, which other programs beside it
    do not change; the overhead is without the potential's.
    """

    ended, outcome = "finished", None
    start, processor = perf_counter(), process_time()
    with time_limit(max_seconds) as reached:
        try:
            outcome = peer(target, problem, seed)
        except TimeLimitError:
            pass
        except BudgetError:
            ended = f"stopped after {target.max_units} units"
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # that a peer fails is its result; a panic is no Exception
            traceback.print_exc()
            said = f"{type(error).__name__}: {error}"[:200]
            ended = f"stopped after {target.max_units} units" if _spent(target) else said
    wall, overhead = perf_counter() - start, process_time() - processor - target.processor_seconds
    if reached.is_set():  # whether or not the peer has a result by then
        ended = f"stopped after {max_seconds} s"
    spent = {"values": target.values, "gradients": target.gradients, "failed": target.failed, "units": target.units}
    seconds = {"wall_s": wall, "target_s": target.seconds, "overhead_s": overhead}
    return {**spent, **seconds, "ended": ended, "outcome": outcome and _plain(outcome)}


def _spent(target: Counted) -> bool:
    """Whether a peer has met its limit of units and raised something of its own about it."""
    return target.units + 2 > target.max_units


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {key: entry.tolist() if isinstance(entry, np.ndarray) else entry for key, entry in asdict(outcome).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("peer", "problem", "output"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--data", type=Path, required=True)
    for option in ("seed", "max-units", "max-seconds"):
        parser.add_argument(f"--{option}", type=int, required=True)
    arguments = parser.parse_args()
    distribution, module = PEERS[arguments.peer]
    problem = make_problem(arguments.problem, arguments.data)
    target = Counted(problem.potential, arguments.max_units, problem.model)
    result = run(getattr(import_module(module), arguments.peer), problem, target, arguments.seed, arguments.max_seconds)
    named = {"peer": arguments.peer, "problem": arguments.problem, "seed": arguments.seed}
    Path(arguments.output).write_text(json.dumps({**named, "version": version(distribution), **result}, indent=1))


if __name__ == "__main__":
    main()
