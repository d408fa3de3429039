"""One mesh: mpiexec -n RANKS python mesh_study_point.py --spec S --data D --chain C --surrogate F --output O ...

The specification is a JSON object with the keys of `rnshmc.experiments.mesh_study.MeshRun`, and the number of states to
take from the chain.
"""

from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from rnshmc.experiments.mesh_study import MeshRun, run_on_mesh
from rnshmc.run.mpi import run_script
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import load_surrogate
from rnshmc.store.chains import read_chain


def main(spec: dict[str, Any], data: Path, chain: Path, surrogate: Path, output: Path, seconds: Path) -> None:
    driver = load_surrogate({"type": recipe("rns_hmc").surrogate}, surrogate)
    draws = read_chain(chain).draws
    states = draws[np.linspace(0, len(draws) - 1, spec.pop("states")).astype(int)]
    solutions, measured = run_on_mesh(MPI.COMM_WORLD, data, driver, states, MeshRun(**spec))
    if MPI.COMM_WORLD.rank == 0:
        solutions.save(output)
        measured.to_csv(seconds, index=False)


if __name__ == "__main__":
    run_script(main, __doc__, "data", "chain", "surrogate", "output", "seconds")
