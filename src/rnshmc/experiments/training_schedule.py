"""Schedule of training: when to replace exact HMC by a gradient network (paper B, section 3, Fig. 1)."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.chain import Phase
from rnshmc.run.phases import exploit, explore
from rnshmc.run.recording import GradientPairs, GradientRecording
from rnshmc.run.registry import fit
from rnshmc.types import Array, Driver, Potential

EXACT, TRAINING, NETWORK = "hmc", "training", "nng_hmc"


@dataclass(frozen=True)
class Schedule:
    """Start, end and interval of training, and the criterion for its success.

    The fields are explained in config/README.md (`experiments.nng_fig1`). Raises `ParameterError` if a number is out of
    range.
    """

    start: int
    end: int
    every: int
    trial: int
    tolerance: float

    def __post_init__(self) -> None:
        for name, least in (("start", 1), ("end", self.start), ("every", 1), ("trial", 1), ("tolerance", 0)):
            if getattr(self, name) < least:
                raise ParameterError(f"{name}: expected at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True)
class Stretch:
    """Consecutive draws by one driver, or a training, which has no draws."""

    kind: str
    draws: Array
    """Shape (n, dim)."""
    acceptance: float
    """Share of proposals accepted; NaN for a training."""
    seconds: float
    """Processor time."""


def run_schedule(
    potential: Potential,
    schedule: Schedule,
    *,
    train: Callable[[Array, Array], Driver],
    start: Array,
    iterations: int,
    rng: np.random.Generator,
    dynamics: Mapping[str, Any],
) -> list[Stretch]:
    """Draw by HMC; at the scheduled times, train a network on all gradients so far and try it.

    Once a network is accepted about as often as HMC, it draws what is left; if none is by the end of the schedule, HMC
    does. Every draw counts, those of trials included, for all leave the posterior invariant. ``iterations`` is the
    number of all draws; ``train`` makes a network from positions and gradients, each of shape (n, dim); ``dynamics``
    has ``step_size`` and ``n_steps``, of HMC and of the network. Raises `ParameterError` if `iterations` leaves no draw
    after the schedule; `FitError` if all trajectories diverged, so that there is nothing to train on.
    """
    trainings = range(schedule.start, schedule.end + 1, schedule.every)
    if iterations <= schedule.end + len(trainings) * schedule.trial:
        raise ParameterError(f"iterations: {iterations} leave no draw after a schedule that ends at {schedule.end}")
    stretches: list[Stretch] = []
    pairs: list[GradientPairs] = []
    q, driver, sampler = start, None, EXACT
    for until in trainings:
        recording = GradientRecording(potential.dim)
        length = until - _drawn(stretches, EXACT)
        phase = explore(potential, start=q, iterations=length, rng=rng, recording=recording, **dynamics)
        pairs.append(recording.pairs().of_sound_trajectories(phase.stats))
        network, training = _trained(train, pairs)
        tried = exploit(
            potential, network, sampler=NETWORK, start=phase.draws[-1], iterations=schedule.trial, rng=rng, **dynamics
        )
        trial = _stretch(NETWORK, tried)
        stretches += [_stretch(EXACT, phase), training, trial]
        q = trial.draws[-1]
        if trial.acceptance >= _acceptance(stretches) - schedule.tolerance:
            driver, sampler = network, NETWORK
            break
    left = iterations - _drawn(stretches, EXACT) - _drawn(stretches, NETWORK)
    phase = exploit(potential, driver, sampler=sampler, start=q, iterations=left, rng=rng, **dynamics)
    return [*stretches, _stretch(sampler, phase)]


def _trained(train: Callable[[Array, Array], Driver], pairs: Sequence[GradientPairs]) -> tuple[Driver, Stretch]:
    began = time.process_time()
    network = train(np.concatenate([each.q for each in pairs]), np.concatenate([each.gradients for each in pairs]))
    return network, Stretch(TRAINING, pairs[0].q[:0], math.nan, time.process_time() - began)


def _drawn(stretches: Sequence[Stretch], kind: str) -> int:
    return sum(len(part.draws) for part in stretches if part.kind == kind)


def _acceptance(stretches: Sequence[Stretch]) -> float:
    """Acceptance of HMC over all its draws."""
    accepted = sum(part.acceptance * len(part.draws) for part in stretches if part.kind == EXACT)
    return accepted / _drawn(stretches, EXACT)


def _stretch(kind: str, phase: Phase) -> Stretch:
    return Stretch(kind, phase.draws, float(phase.stats["accepted"].mean()), phase.cpu_s)


def schedule_table(
    target: Potential,
    *,
    seed: int,
    start: Array,
    draws: int,
    schedule: Mapping[str, Any],
    dynamics: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> pd.DataFrame:
    """Run a schedule of training on a posterior, and tabulate the seconds.

    Columns kind, draws, acceptance, seconds, hmc_seconds: a row for each stretch of draws by ``hmc`` or ``nng_hmc``,
    and for each ``training``. Draws and seconds are those up to its end, and ``hmc_seconds`` those of HMC for as many
    draws, by its seconds per draw in the same chain. ``draws`` is the number of all; ``settings`` are keywords of the
    ``fit`` of the gradient network.
    """

    def train(q: Array, gradients: Array) -> Driver:
        rng = stream(seed, "nng_fig1", "network", f"{len(q)}")
        network: Driver = fit("gradient_network", q, gradients, settings=settings, rng=rng)
        return network

    stretches = run_schedule(
        target,
        Schedule(**schedule),
        train=train,
        start=start,
        iterations=draws,
        rng=stream(seed, "nng_fig1", "chain"),
        dynamics={"step_size": dynamics["step_size"], "n_steps": tuple(dynamics["n_steps"])},
    )
    return as_table(stretches)


def as_table(stretches: list[Stretch]) -> pd.DataFrame:
    """The table of `schedule_table`."""
    exact = [part for part in stretches if part.kind == EXACT]
    per_draw = sum(part.seconds for part in exact) / sum(len(part.draws) for part in exact)
    drawn = np.cumsum([len(part.draws) for part in stretches])
    return pd.DataFrame(
        {
            "kind": [part.kind for part in stretches],
            "draws": drawn,
            "acceptance": [part.acceptance for part in stretches],
            "seconds": np.cumsum([part.seconds for part in stretches]),
            "hmc_seconds": per_draw * drawn,
        }
    )
