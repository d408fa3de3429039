"""Solve the elliptic model at draws from the posterior: mpiexec -n RANKS python posterior_predictive.py --spec S ...

The specification is a JSON object: the fields of `EllipticSettings` as "model", and the number of "draws".
"""

from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from rnshmc.run.mpi import run_script
from rnshmc.store.chains import read_chain
from rnshmc.targets.elliptic import EllipticForwardModel
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.ensemble import map_over_ranks, together
from rnshmc.targets.forward_data import ForwardData, Predictions


def main(spec: dict[str, Any], data: Path, chains: list[Path], output: Path) -> None:
    comm, stored = MPI.COMM_WORLD, [read_chain(path) for path in chains]
    draws = np.concatenate([chain.draws for chain in stored])
    thinned = draws[np.linspace(0, len(draws) - 1, min(spec["draws"], len(draws))).astype(int)]
    points = ForwardData.load(data).points
    model = together(comm, lambda: EllipticForwardModel(points, from_mapping(EllipticSettings, spec["model"])))
    pressures = map_over_ranks(comm, model.predict, list(thinned))
    if pressures is not None:
        Predictions(str(stored[0].settings["sampler"]), pressures).save(output)


if __name__ == "__main__":
    run_script(main, __doc__, "data", "chains", "output", several=["chains"])
