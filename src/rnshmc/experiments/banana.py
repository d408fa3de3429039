"""HMC and RNS-HMC on a banana-shaped posterior: forces, trajectories, acceptance (paper A, section 3.4, Fig. 2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rnshmc.experiments.plane import field_on_grid, trajectories_from
from rnshmc.random import stream
from rnshmc.run.phases import exploit, explore
from rnshmc.run.registry import fit
from rnshmc.targets.banana import Banana, banana_data
from rnshmc.types import Driver

EXACT, SURROGATE = "hmc", "rns_hmc"
NAMES = ("theta1", "theta2")
GRIDS = (np.linspace(-3.6, 2.4, 61), np.linspace(-2.4, 2.4, 61))
"""Grid for the forces: the bulk of the posterior and its surroundings."""


@dataclass(frozen=True)
class BananaExperiment:
    """Settings of the experiment (`experiments.fig2` in config/README.md)."""

    seed: int
    observations: int
    mean: float
    noise_sd: float
    prior_sd: float
    start: tuple[float, float]
    length: float
    steps: int
    drawn_steps: int
    drawn: int
    discard: int
    explore: int
    iterations: int
    repeats: int

    @property
    def dynamics(self) -> dict[str, Any]:
        """Leapfrog settings of the chains."""
        return {"step_size": self.length / self.steps, "n_steps": (self.steps, self.steps)}

    def stream(self, *names: str) -> np.random.Generator:
        """Random stream of a part of the experiment."""
        return stream(self.seed, "fig2", *names)

    def target(self) -> Banana:
        """The posterior, given the same observations in every repeat."""
        y = banana_data(self.stream("observations"), self.observations, mean=self.mean, sd=self.noise_sd)
        return Banana(y, noise_sd=self.noise_sd, prior_sd=self.prior_sd)


class BananaTables(NamedTuple):
    """Results of `run_banana` as tidy tables."""

    field: pd.DataFrame
    """Columns theta1, theta2, potential (less its smallest value on the grid), and the gradients hmc_1, hmc_2
    (exact), rns_hmc_1, rns_hmc_2 (surrogate): one row per grid point, first repeat's surrogate."""
    trajectories: pd.DataFrame
    """Columns sampler, trajectory, step, theta1, theta2: equal trajectory numbers have equal initial momenta."""
    acceptance: pd.DataFrame
    """Columns sampler, repeat, iterations, acceptance, reversed_acceptance, train_residual_sd (NaN for HMC).

    `reversed_acceptance` is the mean of min(1, exp(-(H - H'))) over all proposals, H at the current state and H' at the
    proposal, as averaged in the published code. The sign is that of the reverse move, so it is not an acceptance rate.
    """


def run_banana(experiment: BananaExperiment, *, settings: Mapping[str, Any]) -> BananaTables:
    """Explore by HMC, train a surrogate on the states, and continue by HMC and by RNS-HMC.

    Each repeat is an independent chain: HMC explores from ``start``; the state of every iteration after the first
    ``discard``, repeats included, and its potential are the training set; both samplers continue from the last state.
    ``settings`` are keywords of the ``fit`` of the random network.
    """
    target = experiment.target()
    networks, rows = [], []
    for repeat in range(1, experiment.repeats + 1):
        exploration = explore(
            target,
            start=np.array(experiment.start),
            iterations=experiment.explore,
            rng=experiment.stream("explore", f"repeat{repeat}"),
            **experiment.dynamics,
        )
        network = fit(
            "random_network",
            exploration.draws[experiment.discard :],
            exploration.stats["potential"][experiment.discard :],
            settings=settings,
            rng=experiment.stream("surrogate", f"repeat{repeat}"),
        )
        networks.append(network)
        for sampler, driver in ((EXACT, None), (SURROGATE, network)):
            phase = exploit(
                target,
                driver,
                sampler=sampler,
                start=exploration.draws[-1],
                iterations=experiment.iterations,
                rng=experiment.stream(sampler, f"repeat{repeat}"),
                **experiment.dynamics,
            )
            rows.append(
                {
                    "sampler": sampler,
                    "repeat": repeat,
                    "iterations": experiment.iterations,
                    "acceptance": float(phase.stats["accepted"].mean()),
                    # A proposal that could not be evaluated has infinite energy error: its reverse counts as accepted.
                    "reversed_acceptance": float(np.exp(np.minimum(phase.stats["delta_h"], 0.0)).mean()),
                    "train_residual_sd": driver.train_residual_sd if driver else math.nan,
                }
            )
    return BananaTables(
        field=field_on_grid(target, {EXACT: target, SURROGATE: networks[0]}, names=NAMES, grids=GRIDS),
        trajectories=draw_trajectories(experiment, {EXACT: target, SURROGATE: networks[0]}),
        acceptance=pd.DataFrame(rows),
    )


def draw_trajectories(experiment: BananaExperiment, drivers: Mapping[str, Driver]) -> pd.DataFrame:
    """Trajectories of each driver from the start, with the same initial momenta: see `BananaTables.trajectories`."""
    return trajectories_from(
        drivers,
        names=NAMES,
        starts=np.tile(experiment.start, (experiment.drawn, 1)),
        rng=experiment.stream("momenta"),
        step_size=experiment.length / experiment.drawn_steps,
        n_steps=experiment.drawn_steps,
    )
