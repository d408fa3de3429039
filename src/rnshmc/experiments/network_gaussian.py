"""HMC and NNg-HMC on an ill-conditioned high-dimensional Gaussian (paper B, section 4.1, Fig. 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.experiments.plane import shown_draws
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit, explore
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import fit
from rnshmc.targets.gaussian import Gaussian, spread_gaussian
from rnshmc.types import Driver

EXACT, NETWORK = "hmc", "nng_hmc"


@dataclass(frozen=True)
class NetworkGaussian:
    """Settings of the experiment (`experiments.nng_fig3` in config/README.md)."""

    seed: int
    dimension: int
    smallest: float
    largest: float
    between: tuple[float, float]
    step_size: float
    n_steps: StepRange
    collected: int
    iterations: int
    repeats: int
    converged: bool = True

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
    dynamics: dict[str, Any] = {"step_size": experiment.step_size, "n_steps": experiment.n_steps}
    draws, rows = [], []
    for repeat in range(1, experiment.repeats + 1):
        recording = GradientRecording(target.dim)
        rng = stream(experiment.seed, "nng_fig3", "start", f"repeat{repeat}")
        explored = explore(
            target,
            start=target.sample(rng, 1)[0] if experiment.converged else rng.standard_normal(target.dim),
            iterations=experiment.collected,
            rng=stream(experiment.seed, "nng_fig3", "explore", f"repeat{repeat}"),
            recording=recording,
            **dynamics,
        )
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
                iterations=experiment.iterations,
                rng=stream(experiment.seed, "nng_fig3", sampler, f"repeat{repeat}"),
                **dynamics,
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
            ends = {"narrowest": phase.draws[:, 0], "widest": phase.draws[:, -1]}
            draws.append(shown_draws(sampler, repeat, experiment.repeats, ends))
    return NetworkGaussianTables(pd.concat(draws, ignore_index=True), pd.DataFrame(rows))
