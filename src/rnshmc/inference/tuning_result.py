"""Tuned numbers of `rnshmc.sample`: Markov chains, the draws to return, several modes, and the verdict's limits."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Resampling:
    """Draws of the surrogate, reweighted to the corrected moments."""

    even_enough: float = 0.5  # Efficiency of the importance weights below which the checked draws are used instead.


@dataclass(frozen=True)
class Modes:
    """Several modes."""

    # A mode is left out if its log mass, by the Hessian, is this far below the largest: 5e-5 of its mass.
    negligible: float = 10.0
    # Whitened distance from a mode at which the potential has to be higher in the direction of another.
    step: float = 2.0
    hopeless: float = 30.0  # As `negligible`, before curvatures are measured: by the secants of the descent.
    starts: int = 4  # Starts, where they are drawn.
    drawn: int = 20  # Draws from which they are taken, without those of zero density.
    # Starts in a row without a new mode that end the search, where several modes count. A mode that 3% of the starts
    # find is then missed once in twenty runs. With fewer, the verdict doubts that all modes were found.
    quiet: int = 100
    further: int = 400  # Maximum number of starts drawn in that search.
    looks: int = 3  # Further starts before exact chains begin, where one start found one mode.
    tries: int = 12  # Places tried for them.
    spread: float = 2.0  # Their distance from the start, see `search_nearby`.


@dataclass(frozen=True)
class Judging:
    """Limits of the verdict."""

    sd_good: float = 0.5  # sd(U - V) up to which a surrogate is accurate: importance weights have efficiency 0.8.
    sd_bad: float = 1.5  # sd(U - V) above which a few draws decide the corrections: efficiency 0.1.
    # Upper 95% limit of the share of starts that find an unknown mode, after `Modes.quiet` without one; share of the
    # posterior that a search over the prior may leave elsewhere.
    unseen: float = 3.0 / Modes.quiet
    # Mean resultant length of draws of an angle below which they are all around the circle: a wrapped normal density
    # with an sd of a third of the period has it.
    all_around: float = 0.1
    telling: int = 25  # Known runs that, left out in turn, suffice to judge a surrogate.
    open: float = 0.2  # Unresolved share of the mass: total variation at a normal U - V with the sd `sd_good`.
    wide_open: float = 0.5  # The same at `sd_bad`.
    lacking: float = 0.1  # Bias of a mean or variance, in standard deviations, that tails may cause.
    much_lacking: float = 0.3  # The same above which a surrogate is refused, and a result is bad.
    even: float = 0.995  # Efficiency of importance weights above which their tail does not matter.
    rhat_good: float = 1.01  # R-hat up to which chains agree (Vehtari et al. 2021).
    # R-hat above which chains sample different distributions, and their average has no error (Gelman and Rubin 1992).
    rhat_bad: float = 1.1
    # Minimum effective sample size of averages over chains, and minimum number of independent draws as precise as a
    # surrogate's expectations.
    few: float = 100.0
    short: float = 0.1  # The latter as a share of the requested draws, where that is fewer.
    # Tail shape of squares above which draws do not show their variance. Of samples of 2000 from a funnel, whose
    # kurtosis is 24300, 98% exceed it; of lognormal ones none, none, 5% and 62% at log sds of 0.3, 0.5, 0.75 and 1.
    heavy: float = 0.75
    surprise: float = 4.0  # Standard errors of a difference that is not chance, as of acceptance from its prediction.
    accepted: float = 0.1  # Acceptance below which chains hardly move.
    enough: int = 200  # Minimum number of draws for diagnosing a heavy tail of weights, or a region without density.
    failing: float = 0.1  # Share of failed evaluations above which a region may be missing.
    near_bound: float = 0.1  # Distance from a bound, in standard deviations, within which draws are at it.
    piled_up: float = 0.01  # Share of draws at a bound that counts as a pile.
    as_high: float = 2.0  # Potential at the other bound, above that at this one, up to which mass was missed there.
    noisy: float = 0.05  # Standard deviation of the noise of the log density that is reported.
    # Change of the potential over the distance between points, root mean square, below which a direction is flat.
    level: float = 0.01
    # Whitened coordinates and slopes above which a point is not used to find flat directions: rounding of the fourth
    # power hides changes as small as the square of `level`.
    vast: float = 100.0
    apart_points: float = 0.5  # Distance of points, in standard deviations by the curvature, that shows flatness.


@dataclass(frozen=True)
class Trajectories:
    """Hamiltonian trajectories of many chains at once."""

    short: float = 0.25  # Factor of the step size in shortened transitions.
    short_every: int = 4  # Period of shortened transitions.
    most_steps: int = 64  # Maximum number of leapfrog steps.


@dataclass(frozen=True)
class AdaptedHMC:
    """HMC on the exact potential, where no surrogate is good enough and there are gradients."""

    chains: int = 4
    acceptance: float = 0.8  # Target of dual averaging (Hoffman and Gelman 2014).
    noisy: float = 2.0 * Judging.noisy  # Standard deviation of noise above which the step size is not adapted.
    warm_up: tuple[int, ...] = (30, 60, 80)  # Transitions of the windows; draws of all but the last whiten.
    block: int = 10  # Transitions between two reports.
    spread: float = 0.5  # Whitened standard deviation of the starts around a mode.
    tries: int = 20  # Starts tried for each chain, each nearer to the mode.
    shrinkage: float = 5.0  # Weight of the identity in the whitening covariance, in units of d draws.
    trajectories: Trajectories = field(default_factory=Trajectories)
    # Largest cost relative to the forecast. A chain in a neck shortens the steps of all: without a limit, eight schools
    # took eleven times the forecast, and were bad then, too.
    most_cost: float = 3.0


@dataclass(frozen=True)
class Teaching:
    """States of exact chains that train a surrogate, where training from the mode was not good enough."""

    states: tuple[int, int] = (40, 2)  # Number of states, and more for each dimension.
    # Surrogates trained, each on at least twice the states of the previous one. At two, with one attempt before, one
    # seed of Student's t continued to the end of the chains: 10152 units instead of 6114.
    tries: int = 4
    left_out: float = 1 / 3  # Share of the transitions so far that is left out.
    # Variance of a surrogate's weights above which chains precede another attempt. Eight schools, two seeds: 760 and
    # 920 units in second and third attempts that came no nearer. Surrogates that are refused for their tails, as of
    # Student's t, are not improved by chains.
    far: float = 10.0
    # R-hat up to which chains from several modes have mixed. Of 20 states of four chains each, two of them 3 sds from
    # the others, 99 in 100 have more, for ranks are compared. Eight schools have 1.3.
    mixed: float = 1.5
    at_mode: int = 8  # Exact values at the known mode that check whether such a surrogate has it.
    lacking: float = 0.05  # Share of the posterior there that it may lack.

    def states_of(self, dim: int) -> int:
        """Number of states that train a surrogate."""
        return self.states[0] + self.states[1] * dim
