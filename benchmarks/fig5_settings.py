"""Settings of Fig. 5 that paper A does not give: acceptance of RNS-HMC after 500 and 2000 training points, by setting.

The paper reports an acceptance of around 0.1 for 500 points, and one comparable to HMC's for around 2000, for d = 32.
The number of observations, the trajectories, the penalty and the first training state are not printed. Each row has one
exploration, with HMC's step size tuned to 0.7; its networks have 1000 hidden units, as in the paper's cut. No bound.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.experiments.step_size import tune_step_size
from rnshmc.experiments.sweep import SweepPoint, sweep_run
from rnshmc.random import stream
from rnshmc.run.phases import explore
from rnshmc.targets.logistic import LogisticRegression

D, UNITS, SIZES, KEEP = 32, 1000, (500, 1000, 2000), 400
PRIOR_SD, ACCEPTANCE, TUNING = 10.0, 0.7, 600


class Setting(NamedTuple):
    """What is not printed; by default as in the config."""

    observations: int = 10_000
    n_steps: tuple[int, int] = (1, 6)
    ridge: float = 1e-6
    discard: int = 1000


SETTINGS = (
    Setting(),
    Setting(ridge=1e-9),
    Setting(ridge=1e-3),
    Setting(n_steps=(1, 2)),
    Setting(n_steps=(1, 3)),
    Setting(n_steps=(1, 12)),
    Setting(discard=0),
    Setting(discard=100),
    Setting(observations=1000),
    Setting(observations=500),
    Setting(observations=500, n_steps=(1, 12)),
    Setting(observations=200),
)


def acceptances(setting: Setting) -> Iterator[float]:
    """Acceptance of HMC, then of RNS-HMC at each size."""
    names = ("fig5 settings", str(setting))
    data = simulate_logistic(setting.observations, D, stream(1, "fig5 settings", str(setting.observations)))
    target = LogisticRegression(data.X, data.y, PRIOR_SD)
    step_size = tune_step_size(
        target, n_steps=setting.n_steps, acceptance=ACCEPTANCE, iterations=TUNING, rng=stream(1, *names, "step size")
    )
    exploration = explore(
        target,
        start=np.zeros(D),
        step_size=step_size,
        n_steps=setting.n_steps,
        iterations=setting.discard + max(SIZES),
        rng=stream(1, *names, "explore"),
    )
    yield float(exploration.stats["accepted"][setting.discard :].mean())
    for size in SIZES:
        row = sweep_run(
            target,
            exploration.draws,
            exploration.stats,
            point=SweepPoint(D, UNITS, size),
            run=1,
            seed=1,
            discard=setting.discard,
            keep=KEEP,
            ridge=setting.ridge,
            step_size=step_size,
            n_steps=setting.n_steps,
        )
        yield row["ap"]


def main() -> None:
    print(f"{'setting':88}{'HMC':>6}" + "".join(f"{size:>7}" for size in SIZES))
    for setting in SETTINGS:
        print(f"{setting!s:88}" + "".join(f"{value:7.2f}" for value in acceptances(setting)), flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
