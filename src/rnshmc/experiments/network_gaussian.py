"""HMC and NNg-HMC on an ill-conditioned high-dimensional Gaussian (paper B, section 4.1, Fig. 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.random import stream
from rnshmc.run.chain import Phase
from rnshmc.run.phases import StepRange, exploit, explore
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import fit
from rnshmc.targets.gaussian import Gaussian, spread_gaussian
from rnshmc.types import Driver

EXACT, NETWORK = "hmc", "nng_hmc"
SHOWN_DRAWS = 2000
"""Maximum number of draws of each sampler in the table, over all repeats, after even thinning to reduce repetitions."""


@dataclass(frozen=True)
class NetworkGaussian:
    """Settings of the experiment."""

    seed: int
    dimension: int
    smallest: float
    largest: float
    """Variances of the first and of the last coordinate."""
    between: tuple[float, float]
    """Interval from which the other variances are drawn."""
    step_size: float
    n_steps: StepRange
    """Minimum and maximum number of leapfrog steps, drawn uniformly at each iteration."""
    collected: int
    """Iterations of HMC whose gradients train the network."""
    iterations: int
    """Draws of each sampler after them."""
    repeats: int
    converged: bool = True
    """Whether the exploration starts at a draw of the target; if not, it starts at a draw of N(0, I), and the training
    set includes the transient."""

    def target(self) -> Gaussian:
        """The Gaussian, the same in every repeat."""
        return spread_gaussian(
            stream(self.seed, "nng_fig3", "variances"),
            dim=self.dimension,
            smallest=self.smallest,
            largest=self.largest,
            between=(self.between[0], self.between[1]),
        )


class NetworkGaussianTables(NamedTuple):
    """Results of `run_network_gaussian` as tidy tables."""

    draws: pd.DataFrame
    """Columns sampler, repeat, draw (its iteration, counted from 1), narrowest, widest (coordinates of extreme
    variance)."""
    acceptance: pd.DataFrame
    """Columns sampler, repeat, pairs (training gradients), iterations, acceptance, acceptance_with_empty (with
    trajectories of zero steps, as in paper B)."""


def run_network_gaussian(experiment: NetworkGaussian, *, settings: Mapping[str, Any]) -> NetworkGaussianTables:
    """Collect gradients of HMC, train a network on them, and continue by HMC and by NNg-HMC.

    Each repeat is a chain of its own. HMC continues from its end, and so does NNg-HMC. ``settings`` are keywords
    of the ``fit`` of the gradient network.
    """
    target = experiment.target()
    draws, rows = [], []
    for repeat in range(1, experiment.repeats + 1):
        recording = GradientRecording(target.dim)
        explored = _explore(experiment, target, repeat, recording)
        pairs = recording.pairs().of_sound_trajectories(explored.stats)
        rng = stream(experiment.seed, "nng_fig3", "network", f"repeat{repeat}")
        network = fit("gradient_network", pairs.q, pairs.gradients, settings=settings, rng=rng)
        drivers: dict[str, Driver | None] = {EXACT: None, NETWORK: network}
        for sampler, driver in drivers.items():
            phase = exploit(
                target,
                driver,
                sampler=sampler,
                start=explored.draws[-1],
                step_size=experiment.step_size,
                n_steps=experiment.n_steps,
                iterations=experiment.iterations,
                rng=stream(experiment.seed, "nng_fig3", sampler, f"repeat{repeat}"),
            )
            rows.append(
                {
                    "sampler": sampler,
                    "repeat": repeat,
                    "pairs": len(pairs),
                    "iterations": experiment.iterations,
                    "acceptance": phase.stats["accepted"].mean(),
                    "acceptance_with_empty": with_empty(phase.stats["accepted"].mean(), experiment.n_steps),
                }
            )
            draws.append(_draws_table(sampler, repeat, phase, SHOWN_DRAWS // experiment.repeats))
    return NetworkGaussianTables(pd.concat(draws, ignore_index=True), pd.DataFrame(rows))


def _explore(experiment: NetworkGaussian, target: Gaussian, repeat: int, recording: GradientRecording) -> Phase:
    rng = stream(experiment.seed, "nng_fig3", "start", f"repeat{repeat}")
    return explore(
        target,
        start=target.sample(rng, 1)[0] if experiment.converged else rng.standard_normal(target.dim),
        step_size=experiment.step_size,
        n_steps=experiment.n_steps,
        iterations=experiment.collected,
        rng=stream(experiment.seed, "nng_fig3", "explore", f"repeat{repeat}"),
        recording=recording,
    )


def _draws_table(sampler: str, repeat: int, phase: Phase, most: int) -> pd.DataFrame:
    kept = np.arange(0, len(phase.draws), -(-len(phase.draws) // most))
    ends = {"narrowest": phase.draws[kept, 0], "widest": phase.draws[kept, -1]}
    return pd.DataFrame({"sampler": sampler, "repeat": repeat, "draw": kept + 1, **ends})
