"""Chains that all ranks run together: mpiexec -n RANKS python -m mpi4py replicated_program.py CASE."""

import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from rnshmc.errors import NumericalError, RnshmcError
from rnshmc.kernels.transition import TransitionInfo
from rnshmc.random import stream
from rnshmc.run.chain import Kernel, run_phase
from rnshmc.run.counting import Counter
from rnshmc.run.phases import make_kernel
from rnshmc.run.replicated import ReplicatedKernel, make_replicated_kernel, replicate
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array

COMM = MPI.COMM_WORLD
SETTINGS: dict[str, Any] = {"sampler": "hmc", "step_size": 0.5, "n_steps": (1, 4)}


class Uneven(Gaussian):
    """A Gaussian whose potential has another rounding error on each rank, and fails far out, on rank 0 first."""

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if np.abs(q).max() > 2.5 + COMM.rank:
            raise NumericalError("far out")
        value, gradient = super().value_and_grad(q)
        return value * (1 + 1e-13 * COMM.rank), gradient * (1 + 1e-13 * COMM.rank)


class Undecided:
    """A kernel in which every rank accepts or rejects independently."""

    def __init__(self, kernel: Kernel[Any]) -> None:
        self.kernel = kernel

    def init(self, q: Array) -> Any:
        return self.kernel.init(q)

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, TransitionInfo]:
        after, info = self.kernel.step(rng, state)
        accepted = bool(stream(COMM.rank, repr(after)).integers(2))
        return (after if accepted else state), info._replace(accepted=accepted)


def draws(kernel: Kernel[Any], counter: Counter, rng: np.random.Generator) -> Array:
    _, phase = run_phase(kernel, kernel.init(np.zeros(3)), iterations=50, rng=rng, counter=counter)
    return phase.draws


def same_everywhere(array: Array) -> bool:
    return len(set(COMM.allgather(array.tobytes()))) == 1


def rounding() -> None:
    """Ranks whose potentials differ by rounding have exactly the draws of rank 0."""
    target = Uneven(np.zeros(3), np.eye(3))
    together = draws(*make_replicated_kernel(target, None, COMM, **SETTINGS), stream(1, "chain"))
    alone = draws(*make_kernel(target, None, **SETTINGS), stream(1, "chain"))
    assert same_everywhere(together)
    assert COMM.rank > 0 or np.array_equal(together, alone)


def evaluations() -> None:
    """All ranks get rank 0's value or failure at a position."""
    potential = replicate(Uneven(np.zeros(3), np.eye(3)), COMM)
    value, gradient = potential.value_and_grad(np.ones(3))
    assert same_everywhere(np.append(gradient, value))
    try:
        potential.value_and_grad(np.full(3, 3.0))
    except NumericalError:
        return
    raise AssertionError("rank 0 fails there")


def decisions() -> None:
    """All ranks follow the decision of rank 0."""
    kernel, counter = make_kernel(replicate(Gaussian(np.zeros(3), np.eye(3)), COMM), None, **SETTINGS)
    assert same_everywhere(draws(ReplicatedKernel(Undecided(kernel), COMM), counter, stream(1, "chain")))


def attempt(start: float, name: str) -> None:
    kernel, counter = make_replicated_kernel(Gaussian(np.zeros(3), np.eye(3)), None, COMM, **SETTINGS)
    try:
        state = kernel.init(np.full(3, start))
        run_phase(kernel, state, iterations=1, rng=stream(1, name), counter=counter)
    except RnshmcError as error:
        print(error, flush=True)


def streams() -> None:
    """Ranks that draw from different streams do not run one chain."""
    attempt(0.0, f"rank{COMM.rank}")


def starts() -> None:
    """Nor do ranks that start at different places."""
    attempt(1e-6 * COMM.rank, "chain")


if __name__ == "__main__":
    cases = (rounding, evaluations, decisions, streams, starts)
    {case.__name__: case for case in cases}[sys.argv[1]]()
