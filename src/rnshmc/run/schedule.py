"""The training schedule of NNg-HMC: HMC until a network drives as well as the exact gradient (paper B, section 3).

Nobody knows beforehand how many gradients a network needs. So it is trained now and then on all that HMC has seen, and
tried; where its acceptance comes close to HMC's, it draws the rest of the chain, and where it never does, HMC does.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rnshmc.errors import FitError, ParameterError
from rnshmc.random import stream
from rnshmc.run.chain import Phase, Progress
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.fit import fit_gradients
from rnshmc.run.phases import StepRange, exploit, explore
from rnshmc.run.recording import GradientRecording
from rnshmc.types import Array, FittedDriver, Potential

_SAMPLER, _SURROGATE = "nng_hmc", "gradient_network"


@dataclass(frozen=True)
class TrainingSchedule:
    """When a network is trained, how it is tried, and what makes it good enough.

    In the paper's example the network is trained every 200 draws (the rate) between the 400th (the start) and the
    1000th (the end): here after 600, 800 and 1000 iterations of HMC, on all gradients since the 400th.

    Raises
    ------
    ParameterError
        If a setting is out of range.
    """

    start: int
    """Iterations of HMC before gradients are collected."""
    end: int
    """Iterations of HMC after which the network is trained for the last time."""
    rate: int
    """Iterations of HMC before each training; it divides end - start."""
    trial: int
    """Iterations of NNg-HMC after each training."""
    tolerance: float
    """How much lower than HMC's the mean acceptance probability of the trial may be."""

    def __post_init__(self) -> None:
        if self.start < 0:
            raise ParameterError(f"start: expected at least 0, got {self.start}")
        for name in ("rate", "trial"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.end <= self.start or (self.end - self.start) % self.rate:
            raise ParameterError(
                f"end: expected start ({self.start}) plus a multiple of rate ({self.rate}), got {self.end}"
            )
        if not 0 <= self.tolerance <= 1:
            raise ParameterError(f"tolerance: expected 0 to 1, got {self.tolerance}")

    @property
    def trainings(self) -> range:
        """Iterations of HMC after which the network is trained."""
        return range(self.start + self.rate, self.end + 1, self.rate)


@dataclass(frozen=True)
class Trial:
    """A training and what came of it."""

    trained_at: int
    """Iterations of HMC before it."""
    pairs: int
    """Gradients that it had."""
    hmc_acceptance: float
    """Mean acceptance probability of HMC since the schedule's start."""
    acceptance: float
    """That of the trial; NaN where no network could be trained, so that there was none."""
    good_enough: bool
    """Whether the difference is within the tolerance."""


@dataclass(frozen=True)
class ScheduledChain:
    """A chain with what happened on its schedule."""

    trials: tuple[Trial, ...]
    """The trainings, in their order; if one was good enough, it is the last."""
    network: FittedDriver | None
    """The network that was good enough; None if HMC drew the rest."""
    phases: tuple[Phase, ...]
    """All phases in their order: HMC and a trial in turns, then the rest. Each leaves the exact posterior invariant."""

    @property
    def draws(self) -> Array:
        """Positions after each iteration, shape (iterations, dim)."""
        return np.concatenate([phase.draws for phase in self.phases])


def sample_on_schedule(
    potential: Potential,
    *,
    start: Array,
    step_size: float,
    n_steps: StepRange,
    iterations: int,
    schedule: TrainingSchedule,
    network: Mapping[str, Any],
    seed: int = 0,
    chain: int = 1,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> ScheduledChain:
    """Sample a posterior with NNg-HMC, and with HMC for as long as no network is good enough.

    The exact potential decides throughout, so that draws of HMC, of trials and of the rest are one chain. Which network
    draws the rest depends on the draws before it, and after finitely many trainings no longer changes: the chain
    converges to the posterior, as one that adapts during its warm-up does. A network that cannot be trained is not good
    enough, and HMC goes on.

    Parameters
    ----------
    potential
        U = -log density up to a constant.
    start
        Where the chain starts, shape (dim,).
    step_size, n_steps
        Leapfrog step size and the range {low, ..., high} of its number of steps, of both samplers.
    iterations
        Draws in all.
    schedule
        When the network is trained and tried; trials included, it has to end before the chain does.
    network
        Settings of each fit, such as ``{"hidden_units": 100, "epochs": 50}``.
    seed, chain
        Root seed and number of the chain.
    progress
        Called after each iteration, with the number of iterations in its phase.
    checkpoint
        Where the chain is kept while it runs, as in `rnshmc.run.sample.sample`. Networks are not kept: they are trained
        again, to the same bytes.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    CheckpointError
        If the checkpoint is damaged, or belongs to another chain.
    """
    longest = schedule.end + len(schedule.trainings) * schedule.trial
    if iterations <= longest:
        raise ParameterError(f"iterations: expected more than the {longest} of the schedule, got {iterations}")
    if checkpoint is not None:
        checkpoint = checkpoint.extended(schedule=asdict(schedule), network=dict(network))
    growing = _GrowingChain(
        potential, start, {"step_size": step_size, "n_steps": n_steps}, seed, f"chain{chain}", progress, checkpoint
    )
    recording = GradientRecording(potential.dim, start=schedule.start)
    fit_rng = stream(seed, "surrogate", f"chain{chain}")
    explored: list[Phase] = []
    trials: list[Trial] = []
    for trained_at in schedule.trainings:
        explored.append(growing.hmc(trained_at - sum(len(phase.draws) for phase in explored), recording))
        stats = {name: np.concatenate([phase.stats[name] for phase in explored]) for name in explored[0].stats}
        expected = float(stats["accept_prob"][schedule.start :].mean())
        try:
            pairs = recording.pairs().of_sound_trajectories(stats)
            driver = fit_gradients(pairs.q, pairs.gradients, surrogate=_SURROGATE, settings=network, rng=fit_rng)
        except FitError:
            trials.append(Trial(trained_at, len(recording.pairs()), expected, math.nan, good_enough=False))
            continue
        acceptance = float(growing.nng_hmc(schedule.trial, driver).stats["accept_prob"].mean())
        good_enough = acceptance >= expected - schedule.tolerance
        trials.append(Trial(trained_at, len(pairs), expected, acceptance, good_enough))
        if good_enough:
            growing.nng_hmc(iterations - growing.length, driver)
            return ScheduledChain(tuple(trials), driver, tuple(growing.phases))
    growing.hmc(iterations - growing.length)
    return ScheduledChain(tuple(trials), None, tuple(growing.phases))


class _GrowingChain:
    """A chain whose sampler changes from phase to phase, with one random stream for each sampler."""

    def __init__(
        self,
        potential: Potential,
        start: Array,
        dynamics: Mapping[str, Any],
        seed: int,
        name: str,
        progress: Progress | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.phases: list[Phase] = []
        self._potential = potential
        self._end = start
        self._dynamics = dynamics
        self._hmc_rng, self._nng_rng = stream(seed, "explore", name), stream(seed, _SAMPLER, name)
        self._progress = progress
        self._checkpoint = checkpoint

    @property
    def length(self) -> int:
        """Iterations so far."""
        return sum(len(phase.draws) for phase in self.phases)

    def hmc(self, iterations: int, recording: GradientRecording | None = None) -> Phase:
        """Go on with exact HMC."""
        settings = {**self._next(iterations), "rng": self._hmc_rng, "recording": recording}
        return self._grown(explore(self._potential, **settings))

    def nng_hmc(self, iterations: int, driver: FittedDriver) -> Phase:
        """Go on with a network."""
        settings = {**self._next(iterations), "rng": self._nng_rng, "sampler": _SAMPLER}
        return self._grown(exploit(self._potential, driver, **settings))

    def _next(self, iterations: int) -> dict[str, Any]:
        part = self._checkpoint and self._checkpoint.part(f"phase{len(self.phases)}")
        return {
            **self._dynamics,
            "start": self._end,
            "iterations": iterations,
            "progress": self._progress,
            "checkpoint": part,
        }

    def _grown(self, phase: Phase) -> Phase:
        self.phases.append(phase)
        self._end = phase.draws[-1]
        return phase
