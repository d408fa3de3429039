"""An update of the online network against one symmetric product plus one in-place rank-one update, s = 2000, d = 50."""

import sys
from collections.abc import Iterator
from itertools import cycle

import numpy as np
from harness import compare, report
from scipy.linalg.blas import dsymv, dsyr

from rnshmc.random import stream
from rnshmc.surrogates.normal_equations import BLOCK
from rnshmc.surrogates.online import OnlineNetwork
from rnshmc.types import Array

STATES, UNITS, DIM, RIDGE = 2500, 2000, 50, 1e-6


def new_states(rng: np.random.Generator) -> Iterator[Array]:
    return cycle(0.1 * rng.standard_normal((1000, DIM)))


def potential(q: Array) -> float:
    return 50.0 * float(q @ q)


def main() -> int:
    rng = stream(1, "benchmark", "online")
    first = 0.1 * rng.standard_normal((STATES, DIM))
    potentials = np.array([potential(q) for q in first])
    online = OnlineNetwork.fit(first, potentials, rng=rng, hidden_units=UNITS, ridge=RIDGE)
    states = new_states(rng)
    matrix, h = np.asfortranarray(np.eye(UNITS)), rng.random(UNITS)

    def update() -> None:
        q = next(states)
        online.update(q, potential(q))

    def bare() -> None:
        dsymv(1.0, matrix, h, lower=1)
        dsyr(1e-9, h, lower=1, a=matrix, overwrite_a=1)

    # As many calls together as fill a block, so that each time holds its share of measuring the drift.
    status = report([compare("update / (symv and syr)", update, bare, bound=3.0, repeats=10, calls=BLOCK)])
    print(f"{len(online.training_states[0])} training states, {online.refactorisations} refactorisations")
    return status


if __name__ == "__main__":
    sys.exit(main())
