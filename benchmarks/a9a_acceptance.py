"""Dependence of a9a's acceptance on the unpublished random projection and hidden layer.

Draws projections, explores each with HMC at paper A's settings, fits two hidden layers to the published training set
and one to a training set of twice its size; RNS-HMC runs on all three, RNS-RMHMC on the first and the last. Run in the
project's folder after data/processed/a9a_encoded.npz was made; takes about ten minutes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.project import project
from rnshmc.random import stream
from rnshmc.run.chain import Phase
from rnshmc.run.phases import exploit, explore
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.targets.logistic import LogisticRegression

PROJECTIONS = 5
DISCARD, PUBLISHED, DOUBLED = 1000, 5000, 9000
STEP_SIZE, STEPS = 0.012, (1, 10)
RIEMANNIAN = {"step_size": 0.5, "n_steps": (4, 4), "options": {"metric": {"shape": "full", "softness": 0.1}}}
RUNS: dict[str, dict[str, Any]] = {
    "rns_hmc": {"step_size": STEP_SIZE, "n_steps": STEPS, "iterations": 2000},
    "rns_rmhmc": {**RIEMANNIAN, "iterations": 1000},
}


def acceptance(target: LogisticRegression, exploration: Phase, end: int, layer: str, sampler: str) -> float:
    """Share of accepted proposals of a sampler whose network is trained on the states from DISCARD to ``end``."""
    q, u = exploration.draws[DISCARD:end], exploration.stats["potential"][DISCARD:end]
    network = RandomNetwork.fit(q, u, rng=stream(1, "a9a acceptance", layer), hidden_units=2500, ridge=1e-9)
    phase = exploit(
        target,
        network,
        sampler=sampler,
        start=q[-1],
        rng=stream(1, "a9a acceptance", layer, "chain"),
        **RUNS[sampler],
    )
    return float(phase.stats["accepted"].mean())


def rows() -> Iterator[tuple[float, ...]]:
    encoded = LogisticData.load("data/processed/a9a_encoded.npz")
    for k in range(PROJECTIONS):
        data = project(encoded, dim=60, rng=stream(1, "a9a acceptance", "projection", str(k)))
        target = LogisticRegression(data.X, data.y, prior_sd=10.0)
        exploration = explore(
            target,
            start=np.zeros(61),
            step_size=STEP_SIZE,
            n_steps=STEPS,
            iterations=DOUBLED,
            rng=stream(1, "a9a acceptance", "explore", str(k)),
        )
        yield (
            float(exploration.stats["accepted"][DISCARD:].mean()),
            acceptance(target, exploration, PUBLISHED, "layer 1", "rns_hmc"),
            acceptance(target, exploration, PUBLISHED, "layer 2", "rns_hmc"),
            acceptance(target, exploration, DOUBLED, "layer 1", "rns_hmc"),
            acceptance(target, exploration, PUBLISHED, "layer 1", "rns_rmhmc"),
            acceptance(target, exploration, DOUBLED, "layer 1", "rns_rmhmc"),
        )


def main() -> None:
    print("acceptance: HMC; RNS-HMC with two hidden layers, with the first and twice the training states;")
    print("RNS-RMHMC with the first hidden layer, and with twice the training states")
    found = []
    with threadpool_limits(limits=1, user_api="blas"):
        for row in rows():
            found.append(row)
            print("  ".join(f"{value:.3f}" for value in row), flush=True)
    print("mean  " + "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)))


if __name__ == "__main__":
    main()
