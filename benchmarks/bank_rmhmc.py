"""RNS-RMHMC on Bank Marketing with other trajectories than the printed one: where does the printed ESS come from?

In whitened coordinates a trajectory on a Gaussian turns by step size x steps: the printed 0.4 x 6 is over a quarter
turn, the draws are antithetic, and ESS is at its cap. Run it in the project's folder after data/processed/bank.npz was
made.
"""

from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.random import stream
from rnshmc.run.fit import fit
from rnshmc.run.phases import exploit, explore
from rnshmc.run.registry import load_target

EXPLORE, DISCARD, KEEP = 5000, 1000, 2500
PRINTED_DRAWS = 5000
TRAJECTORIES = ((0.4, 6), (0.4, 3), (0.2, 6))


def main() -> None:
    target = load_target({"kind": "logistic", "prior_sd": 10.0}, Path("data/processed/bank.npz"))
    exploration = explore(
        target,
        start=np.zeros(target.dim),
        step_size=0.012,
        n_steps=(1, 45),
        iterations=EXPLORE,
        rng=stream(1, "bank rmhmc", "explore"),
    )
    network = fit(
        exploration.draws,
        exploration.stats["potential"],
        surrogate="random_network",
        discard=DISCARD,
        settings={"hidden_units": 1000, "ridge": 1e-9},
        rng=stream(1, "bank rmhmc", "network"),
    )
    print(f"step size x steps: acceptance; ESS per {PRINTED_DRAWS} draws, least, median, largest")
    for step_size, n_steps in TRAJECTORIES:
        phase = exploit(
            target,
            network,
            sampler="rns_rmhmc",
            start=exploration.draws[-1],
            step_size=step_size,
            n_steps=(n_steps, n_steps),
            iterations=KEEP,
            rng=stream(1, "bank rmhmc", "chain"),
            options={"metric": {"shape": "full", "softness": 0.1}},
        )
        ess = geyer_ess(phase.draws) * PRINTED_DRAWS / KEEP
        low, middle, high = np.quantile(ess, [0.0, 0.5, 1.0])
        accepted = phase.stats["accepted"].mean()
        print(f"{step_size} x {n_steps}: {accepted:.3f}; {low:.0f}, {middle:.0f}, {high:.0f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
