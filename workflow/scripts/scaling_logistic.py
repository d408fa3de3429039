"""A likelihood distributed over ranks: mpiexec -n RANKS python scaling_logistic.py --spec S --output O --seconds T.

The specification is a JSON object with the keys of `rnshmc.experiments.sharded.ShardedRun`.
"""

import argparse
import json
import sys
from pathlib import Path

from mpi4py import MPI

from rnshmc.errors import RnshmcError
from rnshmc.experiments.sharded import ShardedRun, run_sharded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    parser.add_argument("--output", type=Path, required=True, help="npz file of values, gradients and draws to write")
    parser.add_argument("--seconds", type=Path, required=True, help="CSV file of measured seconds to write")
    arguments = parser.parse_args()
    run = ShardedRun(**{**arguments.spec, "n_steps": tuple(arguments.spec["n_steps"])})
    results, seconds = run_sharded(MPI.COMM_WORLD, run)
    if MPI.COMM_WORLD.rank == 0:
        results.save(arguments.output)
        seconds.to_csv(arguments.seconds, index=False)


if __name__ == "__main__":
    try:
        main()
    except RnshmcError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
