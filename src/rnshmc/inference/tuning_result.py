"""Tuned numbers of `rnshmc.sample`: Markov chains, the draws to return, several modes, and the verdict's limits."""

from dataclasses import dataclass, field

from rnshmc.inference.tuning_shared import BAD, FEW, ROUNDS, TRIES


@dataclass(frozen=True)
class Modes:
    """Several modes."""

    # A mode is left out if its log mass, by the Hessian, is this far below the largest: 5e-5 of its mass.
    negligible: float = 10.0
    # Whitened distance from a mode at which the potential has to be higher in the direction of another.
    step: float = 2.0
    hopeless: float = BAD * negligible  # The same before curvatures are measured: by the secants of the descent.
    starts: int = 4  # Starts, where they are drawn.
    drawn: int = FEW  # Draws from which they are taken, without those of zero density.
    # Starts in a row without a new mode that end the search, where several modes count. A mode that 3% of the starts
    # find is then missed once in twenty runs. With fewer, the verdict doubts that all modes were found.
    quiet: int = 100
    # Maximum number of starts drawn in that search, and of units for each parameter and one more, see `most_points`.
    further: int = ROUNDS * quiet
    # Modes that end the search: a posterior with more is no sum of parts that are learnt one by one.
    most: int = FEW
    looks: int = 3  # Further starts before exact chains begin, where one start found one mode.
    tries: int = TRIES  # Places tried for them.
    spread: float = 2.0  # Their distance from the start, see `search_nearby`.

    def most_points(self, dim: int) -> int:
        """Largest number of values in the search for further modes, and in a run without gradients or a budget."""
        return self.further * (dim + 1)


@dataclass(frozen=True)
class Judging:
    """Limits of the verdict."""

    sd_good: float = 0.5  # sd(U - V) up to which a surrogate is accurate: importance weights have efficiency 0.8.
    sd_bad: float = BAD * sd_good  # sd(U - V) above which a few draws decide the corrections: efficiency 0.1.
    # Efficiency of the importance weights below which the checked draws are returned, and not the surrogate's.
    even_enough: float = 0.5
    # Minimum exact values at draws of the finished surrogate; known runs that, left out in turn, suffice to judge it.
    # At 20, a skew normal law without gradients has errors of more than a tenth of a standard deviation.
    telling: int = 25
    rhat_good: float = 1.01  # R-hat up to which chains agree (Vehtari et al. 2021).
    # R-hat above which chains sample different distributions, and their average has no error (Gelman and Rubin 1992).
    rhat_bad: float = 1.1
    # Tail shape of squares above which draws do not show their variance. Of samples of 2000 from a funnel, whose
    # kurtosis is 24300, 98% exceed it; of lognormal ones none, none, 5% and 62% at log sds of 0.3, 0.5, 0.75 and 1.
    heavy: float = 0.75
    enough: int = 200  # Minimum number of draws for diagnosing a heavy tail of weights, or a region without density.
    noisy: float = 0.05  # Standard deviation of the noise of the log density that is reported.
    # Change of the potential over the distance between points, root mean square, below which a direction is flat.
    level: float = 0.01
    apart_points: float = 0.5  # Distance of points, in standard deviations by the curvature, that shows flatness.


@dataclass(frozen=True)
class Trajectories:
    """Hamiltonian trajectories of many chains at once."""

    short_every: int = 4  # Period of shortened transitions, whose steps are shorter by the same factor.
    most_steps: int = 64  # Maximum number of leapfrog steps.


@dataclass(frozen=True)
class AdaptedHMC:
    """HMC on the exact potential, where no surrogate is good enough and there are gradients."""

    chains: int = Modes.starts
    acceptance: float = 0.8  # Target of dual averaging (Hoffman and Gelman 2014).
    # Transitions of the first window of the warm-up; the k-th has k times as many. Draws of all but the last whiten.
    warm_up: int = 30
    windows: int = 3  # Number of windows.
    left_out: int = 3  # One transition in so many, the first ones, whose states neither whiten nor train a surrogate.
    shrinkage: float = 5.0  # Weight of the identity in the whitening covariance, in units of d draws.
    trajectories: Trajectories = field(default_factory=Trajectories)
    # Largest cost relative to the forecast. A chain in a neck shortens the steps of all: without a limit, eight schools
    # took eleven times the forecast, and were bad then, too.
    most_cost: float = 3.0


@dataclass(frozen=True)
class Teaching:
    """States of exact chains that train a surrogate, where training from the mode was not good enough."""

    # Surrogates trained, each on at least twice the states of the previous one. At two, with one attempt before, one
    # seed of Student's t continued to the end of the chains: 10152 units instead of 6114.
    tries: int = ROUNDS
    # R-hat up to which chains from several modes have mixed. Of 20 states of four chains each, two of them 3 sds from
    # the others, 99 in 100 have more, for ranks are compared. Eight schools have 1.3.
    mixed: float = 1.5
