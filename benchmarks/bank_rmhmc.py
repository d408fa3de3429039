"""RMHMC on Bank Marketing with other trajectories than the printed one: where does the printed ESS come from?

Run it where data/processed/bank.npz is. In whitened coordinates a trajectory on a Gaussian turns by step size x steps:
the printed 0.4 x 6 is over a quarter turn, the draws are antithetic, and ESS is at its cap.
"""

import sys
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.random import stream
from rnshmc.run.phases import exploit
from rnshmc.run.registry import load_target

DATA = Path("data/processed/bank.npz")
BURN_IN, KEEP = 100, 1500
TRAJECTORIES = ((0.4, 6), (0.4, 3), (0.2, 6))


def main() -> int:
    target = load_target({"kind": "logistic", "prior_sd": 10.0}, DATA)
    print("step size, steps: acceptance; ESS per 5000 draws, min, median, max")
    for step_size, n_steps in TRAJECTORIES:
        phase = exploit(
            target,
            None,
            sampler="rmhmc",
            start=np.zeros(target.dim),
            step_size=step_size,
            n_steps=(n_steps, n_steps),
            iterations=BURN_IN + KEEP,
            rng=stream(1, "benchmark", "bank_rmhmc"),
        )
        ess = geyer_ess(phase.draws[BURN_IN:]) * 5000 / KEEP
        accepted = phase.stats["accepted"][BURN_IN:].mean()
        low, middle, high = np.quantile(ess, [0.0, 0.5, 1.0])
        print(f"{step_size}, {n_steps}: {accepted:.3f}; {low:.0f}, {middle:.0f}, {high:.0f}", flush=True)
    return 0


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        sys.exit(main())
