"""Values of the elliptic inverse problem at fixed positions, to compare versions of dolfinx (test-dolfinx.sh).

pde_values.py write            one line of JSON on the standard output
pde_values.py compare <lines   a table of the differences from the first line; fails if one is above the tolerance
"""

import json
import sys

import numpy as np
from mpi4py import MPI

from rnshmc.fem import compat
from rnshmc.targets.elliptic import EllipticInverseProblem
from rnshmc.targets.elliptic_settings import EllipticSettings, ForwardSettings
from rnshmc.targets.forward_model import run_forward_model

SEED, POSITIONS = 1, 3
TOLERANCE = 1e-10

Values = dict[str, list[float]]


def evaluate(cell_type: str) -> Values:
    """Potential, gradient, metric and its derivative at draws from the prior, with the settings of paper A."""
    model = EllipticSettings(cell_type=cell_type)
    data = run_forward_model(MPI.COMM_SELF, ForwardSettings(seed=SEED, members=POSITIONS, model=model))
    assert data is not None
    target = EllipticInverseProblem(data.points, data.observations, settings=model)
    factor = np.eye(target.dim)
    values = {"observations": data.observations}
    for index, q in enumerate(data.prior_theta):
        values |= {
            f"value {index}": np.array([target.value(q)]),
            f"gradient {index}": target.gradient(q),
            f"metric {index}": target.metric(q),
            f"metric_vjp {index}": target.metric_vjp(q, factor),
        }
    return {f"{cell_type} {name}": array.ravel().tolist() for name, array in values.items()}


def write() -> None:
    """Print the version of dolfinx and the values."""
    values = evaluate("quadrilateral") | evaluate("triangle")
    print(json.dumps({"dolfinx": compat.VERSION, "values": values}))


def relative_difference(first: list[float], other: list[float]) -> float:
    """Largest difference between entries, relative to the largest entry."""
    return float(np.abs(np.subtract(first, other)).max() / np.abs(first).max())


def compare() -> None:
    """Print the largest difference of each quantity over the positions, for each version but the first."""
    first, *others = (json.loads(line) for line in sys.stdin)
    rows: dict[str, list[float]] = {}
    for name, array in first["values"].items():
        differences = [relative_difference(array, other["values"][name]) for other in others]
        quantity = name.rstrip(" 0123456789")
        rows[quantity] = np.maximum(rows.get(quantity, differences), differences).tolist()
    versions = "".join(f"{other['dolfinx']:>14}" for other in others)
    print(f"{'relative difference from ' + first['dolfinx']:<32}{versions}")
    for quantity, row in rows.items():
        print(f"{quantity:<32}" + "".join(f"{difference:14.1e}" for difference in row))
    if not all(difference <= TOLERANCE for row in rows.values() for difference in row):
        sys.exit(f"The versions differ by more than {TOLERANCE:g}.")


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]]()
