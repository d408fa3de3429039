"""HMC and NNg-HMC on a banana-shaped distribution: draws, gradients, trajectories (paper B, section 4.1, Fig. 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.experiments.plane import field_on_grid, shown_draws, trajectories_from
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit, explore
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import fit
from rnshmc.targets.twisted_gaussian import TwistedGaussian
from rnshmc.types import Array, Driver, FittedDriver

EXACT, NETWORK = "hmc", "nng_hmc"
NAMES = ("x1", "x2")
GRID_POINTS = 41
"""Grid points along each axis, between the outermost draws."""


@dataclass(frozen=True)
class NetworkBanana:
    """Settings of the experiment (`experiments.nng_fig2` in config/README.md)."""

    seed: int
    scale1: float
    scale2: float
    bend: float
    step_size: float
    n_steps: StepRange
    iterations: int
    training: int
    drawn: int
    drawn_step_size: float
    drawn_steps: int
    repeats: int

    def target(self) -> TwistedGaussian:
        """The banana-shaped distribution."""
        return TwistedGaussian(scale1=self.scale1, scale2=self.scale2, bend=self.bend)


class NetworkBananaTables(NamedTuple):
    """Results of `run_network_banana` as tidy tables; network and trajectories are from the first repeat."""

    field: pd.DataFrame
    """Columns x1, x2, potential (less its smallest value on the grid), and the gradients hmc_1, hmc_2 (exact),
    nng_hmc_1, nng_hmc_2 (network): one row per grid point."""
    draws: pd.DataFrame
    """Columns sampler, repeat, draw (its iteration, counted from 1), x1, x2."""
    trajectories: pd.DataFrame
    """Columns sampler, trajectory, step, x1, x2: equal trajectory numbers have equal starts and momenta."""
    acceptance: pd.DataFrame
    """Columns sampler, repeat, iterations, acceptance, acceptance_with_empty (with trajectories of zero steps, as in
    paper B), diverging (share of divergent trajectories)."""


class _Repeat(NamedTuple):
    network: FittedDriver
    draws: dict[str, Array]
    stats: dict[str, dict[str, npt.NDArray[Any]]]


def run_network_banana(experiment: NetworkBanana, *, settings: Mapping[str, Any]) -> NetworkBananaTables:
    """Sample by HMC, train a network on the gradients of its first iterations, and sample by NNg-HMC from their end.

    Each repeat is a chain of its own, which starts at a draw of the target: every chain has converged, as the paper
    wants it before gradients are collected. ``settings`` are keywords of the ``fit`` of the gradient network.
    """
    target = experiment.target()
    repeats = [_run(experiment, target, f"repeat{number}", settings) for number in range(1, experiment.repeats + 1)]
    first = repeats[0]
    drivers: dict[str, Driver] = {EXACT: target, NETWORK: first.network}
    return NetworkBananaTables(
        field=field_on_grid(target, drivers, names=NAMES, grids=_grids([repeat.draws for repeat in repeats])),
        draws=pd.concat(
            [
                shown_draws(sampler, number, experiment.repeats, {"x1": draws[:, 0], "x2": draws[:, 1]})
                for number, repeat in enumerate(repeats, start=1)
                for sampler, draws in repeat.draws.items()
            ],
            ignore_index=True,
        ),
        trajectories=_trajectories(experiment, drivers),
        acceptance=pd.DataFrame(
            [
                {
                    "sampler": sampler,
                    "repeat": number,
                    "iterations": experiment.iterations,
                    "acceptance": stats["accepted"].mean(),
                    "acceptance_with_empty": with_empty(stats["accepted"].mean(), experiment.n_steps),
                    "diverging": stats["diverging"].mean(),
                }
                for number, repeat in enumerate(repeats, start=1)
                for sampler, stats in repeat.stats.items()
            ]
        ),
    )


def _run(experiment: NetworkBanana, target: TwistedGaussian, name: str, settings: Mapping[str, Any]) -> _Repeat:
    dynamics: dict[str, Any] = {"step_size": experiment.step_size, "n_steps": experiment.n_steps}
    hmc_rng = _stream(experiment, EXACT, name)
    recording = GradientRecording(target.dim)
    start = target.sample(_stream(experiment, "start", name), 1)[0]
    explored = explore(
        target, start=start, iterations=experiment.training, rng=hmc_rng, recording=recording, **dynamics
    )
    end = explored.draws[-1]
    rest = explore(target, start=end, iterations=experiment.iterations - experiment.training, rng=hmc_rng, **dynamics)
    pairs = recording.pairs().of_sound_trajectories(explored.stats)
    fit_rng = _stream(experiment, "network", name)
    network = fit("gradient_network", pairs.q, pairs.gradients, settings=settings, rng=fit_rng)
    sampled = exploit(
        target,
        network,
        sampler=NETWORK,
        start=end,
        iterations=experiment.iterations,
        rng=_stream(experiment, NETWORK, name),
        **dynamics,
    )
    hmc_stats = {key: np.concatenate((part, rest.stats[key])) for key, part in explored.stats.items()}
    return _Repeat(
        network,
        draws={EXACT: np.concatenate((explored.draws, rest.draws)), NETWORK: sampled.draws},
        stats={EXACT: hmc_stats, NETWORK: sampled.stats},
    )


def _stream(experiment: NetworkBanana, *names: str) -> np.random.Generator:
    return stream(experiment.seed, "nng_fig2", *names)


def _grids(repeats: Sequence[Mapping[str, Array]]) -> tuple[Array, Array]:
    together = np.concatenate([draws for repeat in repeats for draws in repeat.values()])
    low, high = together.min(axis=0), together.max(axis=0)
    return np.linspace(low[0], high[0], GRID_POINTS), np.linspace(low[1], high[1], GRID_POINTS)


def _trajectories(experiment: NetworkBanana, drivers: Mapping[str, Driver]) -> pd.DataFrame:
    rng = _stream(experiment, "trajectories")
    return trajectories_from(
        drivers,
        names=NAMES,
        starts=experiment.target().sample(rng, experiment.drawn),
        rng=rng,
        step_size=experiment.drawn_step_size,
        n_steps=experiment.drawn_steps,
    )
