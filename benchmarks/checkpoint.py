"""Time of a checkpoint of the largest chain, ARNS-HMC on a9a, against the interval between checkpoints: d = 60, s =
2500, 5000 draws."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from harness import Comparison, report

from rnshmc.kernels.adaptive_hmc import AdaptiveHMC
from rnshmc.random import stream
from rnshmc.run.chain import STATS_DTYPES
from rnshmc.run.checkpoint import Checkpoint, Keeper, Stopwatch
from rnshmc.surrogates.online import OnlineNetwork
from rnshmc.targets.gaussian import Gaussian

DIM, UNITS, RIDGE, EXPLORED, KEPT, REPEATS = 60, 2500, 1e-9, 3000, 5000, 10


def main() -> int:
    rng = stream(1, "benchmark", "checkpoint")
    target = Gaussian(np.zeros(DIM), np.eye(DIM))
    # All states at once: how large a checkpoint is does not depend on how they were learnt.
    states = rng.standard_normal((EXPLORED + KEPT, DIM))
    potentials = np.array([target.value(q) for q in states])
    network = OnlineNetwork.fit(states, potentials, rng=rng, hidden_units=UNITS, ridge=RIDGE)
    kernel = AdaptiveHMC(target, network, step_size=0.1, n_steps=(1, 10), offset=1000.0, exponent=1.0)
    state = kernel.init(states[0])
    stats: dict[str, npt.NDArray[Any]] = {name: np.zeros(KEPT, dtype=dtype) for name, dtype in STATS_DTYPES.items()}
    with TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder) / "chain1.npz", spec={})
        keeper = Keeper(checkpoint, kernel, start=state.q, rng=rng, draws=states[-KEPT:], stats=stats)
        seconds = []
        for _ in range(REPEATS):
            began = perf_counter()
            keeper.keep(state, KEPT, Stopwatch())
            seconds.append(perf_counter() - began)
        megabytes = checkpoint.path.stat().st_size / 1e6
    status = report([Comparison("checkpoint / interval", 0.01, tuple(seconds), (checkpoint.every_s,))])
    print(f"{megabytes:.1f} MB, at most {max(seconds) / checkpoint.every_s:.2%} of the time")
    return status


if __name__ == "__main__":
    sys.exit(main())
