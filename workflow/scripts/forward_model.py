"""Solve the elliptic forward model: mpiexec -n RANKS python workflow/scripts/forward_model.py --spec S --output O.

The specification is a JSON object with the fields of `ForwardSettings`, its "model" one with those of
`EllipticSettings`.
"""

from pathlib import Path
from typing import Any

from mpi4py import MPI

from rnshmc.run.mpi import run_script
from rnshmc.targets.elliptic_settings import EllipticSettings, ForwardSettings, from_mapping
from rnshmc.targets.forward_model import run_forward_model


def main(spec: dict[str, Any], output: Path) -> None:
    model = from_mapping(EllipticSettings, spec.pop("model", {}))
    data = run_forward_model(MPI.COMM_WORLD, from_mapping(ForwardSettings, {**spec, "model": model}))
    if data is not None:
        data.save(output)


if __name__ == "__main__":
    run_script(main, __doc__, "output")
