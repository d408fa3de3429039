"""The elliptic posterior on the ranks that run this: mpiexec -n RANKS python -m mpi4py diffusion_program.py FILE.

Writes results that must not depend on the ranks: values, derivatives and draws of short chains, by cell type and
solver.
"""

import itertools
import sys

import numpy as np
from mpi4py import MPI

from rnshmc.errors import NumericalError
from rnshmc.random import stream
from rnshmc.run.chain import run_phase
from rnshmc.run.replicated import make_replicated_kernel
from rnshmc.targets.elliptic import EllipticInverseProblem
from rnshmc.targets.elliptic_settings import EllipticSettings
from rnshmc.types import Array

COMM = MPI.COMM_WORLD
DIM = 6


def target(cell_type: str, solver: str) -> EllipticInverseProblem:
    side = np.linspace(0.0, 1.0, 6)
    # Nodes, among them those on the boundaries of the ranks' parts, and points inside of cells.
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    points = np.concatenate([points, stream(1, "points").random((20, 2))])
    observations = points[:, 0] + 0.1 * stream(1, "noise").standard_normal(len(points))
    settings = EllipticSettings(cells=10, cell_type=cell_type, modes=DIM, solver=solver)
    return EllipticInverseProblem(points, observations, settings=settings, comm=COMM)


def draws(potential: EllipticInverseProblem, sampler: str, iterations: int) -> Array:
    kernel, counter = make_replicated_kernel(potential, None, COMM, sampler=sampler, step_size=0.2, n_steps=(1, 2))
    start = kernel.init(np.zeros(DIM))
    _, phase = run_phase(kernel, start, iterations=iterations, rng=stream(1, sampler), counter=counter)
    assert phase.stats["accepted"].any()
    return phase.draws


def measure(cell_type: str, solver: str) -> dict[str, Array]:
    potential, q = target(cell_type, solver), 0.5 * stream(1, "position").standard_normal(DIM)
    value, gradient = potential.value_and_grad(q)
    # What cannot be solved is an error on all ranks, where it is known to one of them alone too, and not the end.
    for bad in (np.full(DIM, np.nan), 1e4 * np.eye(DIM)[1]):
        try:
            potential.value(bad)
        except NumericalError:
            continue
        raise AssertionError("no error")
    assert potential.value(q) == value
    return {
        "value": np.array(value),
        "gradient": gradient,
        "metric": potential.metric(q),
        "metric_vjp": potential.metric_vjp(q, np.eye(DIM)),
        "hmc": draws(potential, "hmc", 5),
        "rmhmc": draws(potential, "rmhmc", 1),
    }


def main() -> None:
    found = {
        f"{cell_type}/{solver}/{name}": array
        for cell_type, solver in itertools.product(("quadrilateral", "triangle"), ("direct", "multigrid"))
        for name, array in measure(cell_type, solver).items()
    }
    for name, array in found.items():
        assert len(set(COMM.allgather(array.tobytes()))) == 1, f"{name} differs between the ranks"
    if COMM.rank == 0:
        np.savez(sys.argv[1], ranks=COMM.size, **found)


if __name__ == "__main__":
    main()
