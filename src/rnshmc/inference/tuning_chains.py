"""Tuned numbers of `rnshmc.sample`: Markov chains, on the surrogate and on the exact potential."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Trajectories:
    """Hamiltonian trajectories of many chains at once."""

    short: float = 0.25
    """Factor of the step in shortened transitions. Not varied."""
    short_every: int = 4
    """One transition of so many is shortened. Not varied."""
    most_steps: int = 64
    """Leapfrog steps at most. Not varied."""


@dataclass(frozen=True)
class AdaptedHMC:
    """HMC on the exact potential, where the surrogate is not good enough and there are gradients."""

    chains: int = 4
    acceptance: float = 0.8
    """Target of dual averaging (Hoffman and Gelman 2014)."""
    noisy: float = 0.1
    """Standard deviation of noise of the log density from which on the step size stays as it is. Not varied."""
    warm_up: tuple[int, ...] = (30, 60, 80)
    """Transitions of the windows; after all but the last, the draws whiten the coordinates."""
    block: int = 10
    """Transitions between two reports."""
    spread: float = 0.5
    """Whitened standard deviation of the starts around a mode."""
    tries: int = 20
    """Starts tried for each chain, each nearer to the mode."""
    shrinkage: float = 5.0
    """Draws, in units of d, with which the identity counts in the covariance that whitens."""
    trajectories: Trajectories = field(default_factory=Trajectories)
    most_cost: float = 3.0
    """Units that are spent at most, relative to the forecast. A chain in a neck makes the steps of all short: without a
    limit, eight schools took eleven times the forecast, and were bad then, too."""


@dataclass(frozen=True)
class Teaching:
    """States of exact chains that teach a surrogate, where it was not good enough from the mode on."""

    states: tuple[int, int] = (40, 2)
    """Number of them, and more for each dimension. Not varied."""
    tries: int = 4
    """Surrogates that are taught, each by at least twice the states of the one before. At two, with one attempt before,
    one seed of Student's t went on to the end of the chains: 10152 units in place of 6114."""
    left_out: float = 1 / 3
    """Share of the transitions so far that is left out. Not varied."""
    far: float = 10.0
    """Variance of a surrogate's weights from which on the chains come before another attempt. Eight schools, two seeds:
    760 and 920 units in second and third attempts that came no nearer. Where it is refused for its tails, chains teach
    no better: Student's t."""

    mixed: float = 1.5
    """R-hat up to which chains that began at several modes show that these are one. Of 20 states of four chains each,
    two of them 3 sds from the others, 99 in 100 have more, for ranks are compared. Eight schools have 1.3."""

    at_mode: int = 8
    """Exact values at the known mode that check whether such a surrogate has it."""
    lacking: float = 0.05
    """Share of the posterior there that it lacks, from which on it is not used."""

    def states_of(self, dim: int) -> int:
        """How many states are learnt from."""
        return self.states[0] + self.states[1] * dim
