"""An iteration of RNS-HMC on simulated logistic regression against one exact value: N = 100000, d = 50, s = 2000."""

import sys

import numpy as np
from harness import compare, report

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.targets.logistic import LogisticRegression

N, DIM, STATES, UNITS = 100_000, 50, 2500, 2000


def main() -> int:
    rng = stream(1, "benchmark", "rns_hmc")
    data = simulate_logistic(N, DIM, rng)
    target = LogisticRegression(data.X, data.y, prior_sd=10.0)
    # States near a mode, as an exploration would find them: what is timed does not depend on how good the fit is.
    mode = np.zeros(DIM)
    for _ in range(10):
        mode = mode - np.linalg.solve(target.metric(mode), target.gradient(mode))
    factor = np.linalg.cholesky(np.linalg.inv(target.metric(mode)))
    states = mode + rng.standard_normal((STATES, DIM)) @ factor.T
    potentials = np.array([target.value(q) for q in states])
    network = RandomNetwork.fit(states, potentials, rng=rng, hidden_units=UNITS, ridge=1e-6)
    kernel = HMC(target, network, step_size=0.045, n_steps=(1, 6))
    state = kernel.init(mode)
    return report(
        [
            compare(
                "RNS-HMC iteration / exact value",
                lambda: kernel.step(rng, state),
                lambda: target.value(mode),
                bound=1.25,
                repeats=200,
            )
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
