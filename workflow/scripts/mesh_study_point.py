"""One mesh: mpiexec -n RANKS python mesh_study_point.py --spec S --data D --chain C --surrogate F --output O ...

The specification is a JSON object with the keys of `rnshmc.experiments.mesh_study.MeshRun`, and the number of states to
take from the chain.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from rnshmc.errors import RnshmcError
from rnshmc.experiments.mesh_study import MeshRun, run_on_mesh
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import load_surrogate
from rnshmc.store.chains import read_chain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    parser.add_argument("--data", type=Path, required=True, help="output file of the forward model")
    parser.add_argument("--chain", type=Path, required=True, help="netCDF file of draws of the posterior")
    parser.add_argument("--surrogate", type=Path, required=True, help="npz file of the surrogate of RNS-HMC")
    parser.add_argument("--output", type=Path, required=True, help="npz file of pressures and potentials to write")
    parser.add_argument("--seconds", type=Path, required=True, help="CSV file of measured seconds to write")
    arguments = parser.parse_args()
    spec = dict(arguments.spec)
    surrogate = load_surrogate({"type": recipe("rns_hmc").surrogate}, arguments.surrogate)
    draws = read_chain(arguments.chain).draws
    states = draws[np.linspace(0, len(draws) - 1, spec.pop("states")).astype(int)]
    solutions, seconds = run_on_mesh(MPI.COMM_WORLD, arguments.data, surrogate, states, MeshRun(**spec))
    if MPI.COMM_WORLD.rank == 0:
        solutions.save(arguments.output)
        seconds.to_csv(arguments.seconds, index=False)


if __name__ == "__main__":
    try:
        main()
    except RnshmcError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
