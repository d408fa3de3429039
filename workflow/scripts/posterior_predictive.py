"""Solve the elliptic model at draws from the posterior: mpiexec -n RANKS python posterior_predictive.py --spec S ...

The specification is a JSON object: the fields of `EllipticSettings` as "model", and the number of "draws".
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from rnshmc.errors import RnshmcError
from rnshmc.store.chains import read_chain
from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.ensemble import map_over_ranks, together
from rnshmc.targets.forward_data import ForwardData
from rnshmc.targets.predictions import Predictions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    parser.add_argument("--data", type=Path, required=True, help="npz file of the forward model")
    parser.add_argument("--chains", type=Path, nargs="+", required=True, help="netCDF files of the chains of a sampler")
    parser.add_argument("--output", type=Path, required=True, help="npz file to write")
    arguments = parser.parse_args()
    spec, comm = arguments.spec, MPI.COMM_WORLD
    chains = [read_chain(path) for path in arguments.chains]
    draws = np.concatenate([chain.draws for chain in chains])
    thinned = draws[np.linspace(0, len(draws) - 1, min(spec["draws"], len(draws))).astype(int)]
    points = ForwardData.load(arguments.data).points
    model = together(comm, lambda: EllipticForwardModel(points, from_mapping(EllipticSettings, spec["model"])))
    pressures = map_over_ranks(comm, model.predict, list(thinned))
    if pressures is not None:
        Predictions(str(chains[0].settings["sampler"]), pressures).save(arguments.output)


if __name__ == "__main__":
    try:
        main()
    except RnshmcError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
