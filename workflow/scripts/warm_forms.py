"""Compile the finite element forms into dolfinx's cache, so that parallel jobs do not wait for each other.

python warm_forms.py OUTPUT LOG; the output records the compiled forms.
"""

import sys
from pathlib import Path

from rnshmc.fem import compat
from rnshmc.fem.diffusion import CELL_TYPES, DiffusionSolver
from rnshmc.files import write_json
from rnshmc.run.job import job
from rnshmc.targets.elliptic import boundary_pressure

output, log = sys.argv[1:]

with job(log):
    for cell_type in CELL_TYPES:
        DiffusionSolver(1, cell_type, boundary_pressure)
    write_json(Path(output), {"dolfinx": compat.VERSION, "cell_types": list(CELL_TYPES)})
