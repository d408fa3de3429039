"""How far a9a's acceptance depends on what is not published: the random projection, and the hidden layer.

Draws projections, explores each with HMC at paper A's settings, fits two hidden layers to the published training set
and one to a training set of twice its size. Run in the project's folder after data/processed/a9a_encoded.npz was made;
takes about four minutes.
"""

from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.project import project
from rnshmc.random import stream
from rnshmc.run.chain import Phase
from rnshmc.run.phases import exploit, explore
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.targets.logistic import LogisticRegression

PROJECTIONS = 4
DISCARD, PUBLISHED, DOUBLED = 1000, 5000, 9000
KEEP = 2000
STEP_SIZE, STEPS = 0.012, (1, 10)


def acceptance(target: LogisticRegression, exploration: Phase, end: int, layer: str) -> float:
    """Share of accepted proposals of RNS-HMC trained on the states from DISCARD to ``end``."""
    q, u = exploration.draws[DISCARD:end], exploration.stats["potential"][DISCARD:end]
    network = RandomNetwork.fit(q, u, rng=stream(1, "a9a acceptance", layer), hidden_units=2500, ridge=1e-9)
    phase = exploit(
        target,
        network,
        sampler="rns_hmc",
        start=q[-1],
        step_size=STEP_SIZE,
        n_steps=STEPS,
        iterations=KEEP,
        rng=stream(1, "a9a acceptance", layer, "chain"),
    )
    return float(phase.stats["accepted"].mean())


def rows() -> Iterator[tuple[float, ...]]:
    encoded = LogisticData.load("data/processed/a9a_encoded.npz")
    for k in range(PROJECTIONS):
        data = project(encoded, dim=60, rng=stream(1, "a9a acceptance", "projection", str(k)))
        target = LogisticRegression(data.X, data.y, prior_sd=10.0)
        exploration = explore(
            target,
            start=np.zeros(60),
            step_size=STEP_SIZE,
            n_steps=STEPS,
            iterations=DOUBLED,
            rng=stream(1, "a9a acceptance", "explore", str(k)),
        )
        yield (
            float(exploration.stats["accepted"][DISCARD:].mean()),
            acceptance(target, exploration, PUBLISHED, "layer 1"),
            acceptance(target, exploration, PUBLISHED, "layer 2"),
            acceptance(target, exploration, DOUBLED, "layer 1"),
        )


def main() -> None:
    print("acceptance: HMC, RNS-HMC with two hidden layers, with the first and twice the training states")
    found = []
    with threadpool_limits(limits=1, user_api="blas"):
        for row in rows():
            found.append(row)
            print("  ".join(f"{value:.3f}" for value in row), flush=True)
    print("mean  " + "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)))


if __name__ == "__main__":
    main()
