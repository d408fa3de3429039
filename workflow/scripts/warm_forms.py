"""Compile the finite element forms into dolfinx's cache, so that parallel jobs do not wait for each other."""

import argparse
from pathlib import Path

from rnshmc.fem import compat
from rnshmc.fem.diffusion import CELL_TYPES, DiffusionSolver
from rnshmc.files import write_json
from rnshmc.run.job import job
from rnshmc.targets.elliptic import boundary_pressure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON file that records the compiled forms")
    parser.add_argument("--log", required=True, help="log file")
    arguments = parser.parse_args()
    with job(arguments.log):
        for cell_type in CELL_TYPES:
            DiffusionSolver(1, cell_type, boundary_pressure)
        write_json(arguments.output, {"dolfinx": compat.VERSION, "cell_types": list(CELL_TYPES)})


if __name__ == "__main__":
    main()
