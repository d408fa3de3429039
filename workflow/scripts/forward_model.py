"""Solve the elliptic forward model: mpiexec -n RANKS python workflow/scripts/forward_model.py --spec S --output O.

The specification is a JSON object with the fields of `ForwardSettings`, its "model" one with those of
`EllipticSettings`.
"""

import argparse
import json
import sys
from pathlib import Path

from mpi4py import MPI

from rnshmc.errors import RnshmcError
from rnshmc.targets.elliptic_settings import EllipticSettings, ForwardSettings, from_mapping
from rnshmc.targets.forward_model import run_forward_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    parser.add_argument("--output", type=Path, required=True, help="npz file to write")
    arguments = parser.parse_args()
    spec = dict(arguments.spec)
    model = from_mapping(EllipticSettings, spec.pop("model", {}))
    data = run_forward_model(MPI.COMM_WORLD, from_mapping(ForwardSettings, {**spec, "model": model}))
    if data is not None:
        data.save(arguments.output)


if __name__ == "__main__":
    try:
        main()
    except RnshmcError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
