"""A likelihood distributed over ranks: mpiexec -n RANKS python scaling_logistic.py --spec S --output O --seconds T.

The specification is a JSON object with the keys of `rnshmc.experiments.sharded.ShardedRun`.
"""

from pathlib import Path
from typing import Any

from mpi4py import MPI

from rnshmc.experiments.sharded import ShardedRun, run_sharded
from rnshmc.run.mpi import run_script


def main(spec: dict[str, Any], output: Path, seconds: Path) -> None:
    run = ShardedRun(**{**spec, "n_steps": tuple(spec["n_steps"])})
    results, measured = run_sharded(MPI.COMM_WORLD, run)
    if MPI.COMM_WORLD.rank == 0:
        results.save(output)
        measured.to_csv(seconds, index=False)


if __name__ == "__main__":
    run_script(main, __doc__, "output", "seconds")
