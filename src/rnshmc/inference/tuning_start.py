"""Tuned numbers of `rnshmc.sample` before there is a surrogate: the search for a mode, noise, and bounds."""

import math
from dataclasses import dataclass

from rnshmc.inference.tuning_result import Judging, Modes


@dataclass(frozen=True)
class Curvatures:
    """The Hessian fitted to secants: changes of the gradient over steps."""

    third_order: float = 0.02  # Change of a whitened gradient beyond its linear part, per squared whitened distance.
    near: float = 3.0  # Distance, in units of sqrt(d), over which gradients are compared.
    least: float = 0.1  # Smallest curvature of a new estimate, in the coordinates of the previous one.
    most: float = 1e3  # Largest curvature of a new estimate.


@dataclass(frozen=True)
class Differences:
    """Gradients by differences of values, in whitened coordinates."""

    step: float = 0.1  # Shortest step: above the noise of a simulator, small for the posterior.
    longest: float = 2.0  # Longest step, for noisy values: within the posterior.


@dataclass(frozen=True)
class Search:
    """The search for the scale of each coordinate."""

    first: float = 1e-4  # First step, relative to the coordinate, or absolute where that is zero.
    low: float = 0.05  # Smallest change of the potential over a step from which its curvature is taken.
    high: float = 20.0  # Largest one.
    most_growth: float = 1000.0  # Largest growth of a step; less where the potential would change by more than one.
    blind_growth: float = 100.0  # Growth of a step that does not change the potential at all.
    least_growth: float = 3.0  # Smallest growth of a step that changes it too little.
    shrinkage: float = 0.1  # Factor of a step after a failure or an infinite potential.
    narrow: float = 0.1  # Smallest scale, in units of the step that measures it.
    wide: float = 100.0  # Largest scale in the same units.
    rounds: int = 10  # Maximum number of rounds of steps.
    resolved: float = 1e-12  # Relative change of the potential above rounding: 5000 times double precision.
    above_noise: float = 10.0  # Smallest change of the potential over a step, in standard deviations of its noise.


@dataclass(frozen=True)
class Surveying:
    """The search of a prior for all modes, on emulated outputs."""

    # Runs at draws of the prior before the first round, for each dimension. Of searches for the other mode of the
    # folded plate of benchmarks/modes.py, from drawn starts, 4 of 4 missed it without these, and 1 of 8 with them.
    first: int = 2
    each: int = 3  # Maximum number of runs of a round at uncertain minima.
    # Runs of a round at tempered draws. With 2, as many of the same searches missed a mode, after 13 to 43 runs instead
    # of 18 to 33.
    spread: int = 1
    effective: float = 20.0  # Effective number of draws of the prior at their temperature.
    descents: int = 8  # Descents on the emulator in a round, from tempered draws.
    # Standard deviations of U - V below V at which the potential may be. Of thirty searches for two modes of
    # benchmarks/modes.py, by hand with an earlier design, 4 missed one without, and none with 0.5, 1 and 2.
    hope: float = 1.0
    sure: float = 0.25  # Variance of U - V at a minimum up to which the emulator is certain of it.
    # Logarithm of the mass of an uncertain minimum, relative to the known modes, from which the model is run there: an
    # emulator that has not seen a mode is too certain that there is none. Of the same searches, 4 of 7 missed the mode
    # at 20.
    hopeless: float = Modes.hopeless
    highest: float = 2.0 * Modes.negligible  # Height of a minimum above the lowest one up to which its mode may count.
    barrier: float = 1.0  # Height of the potential between two minima, above the higher one, that separates them.
    left: float = (
        0.01  # Mass that the emulator may hide at draws of the prior, relative to the known modes, at the end.
    )
    quiet: int = 1  # Rounds in succession in which nothing is found or left open; one more ends the search.
    rounds: int = 12  # Maximum number of rounds. Of the same thirty, 10, 4 and 0 missed a mode with 6, 8 and 12.


@dataclass(frozen=True)
class Descent:
    """From a start to the neighbourhood of a mode, in a trust region."""

    close: float = 1.0  # Length of the whitened gradient at which a descent ends: one standard deviation from the mode.
    poor: float = 0.1  # Decrease over predicted decrease below which a step is rejected; usual for trust regions.
    good: float = 0.7  # The same above which the next step may be longer; usual for trust regions.
    shorter: float = 0.3  # Factor of the trust region after a poor step.
    longer: float = 2.0  # Factor after a good step.
    first_decrease: float = 10.0  # Decrease of the potential that the first step aims at.
    shortest: float = 1e-4  # Length of a step, in units of a Newton step, at which a descent ends.
    uneven: float = 1e4  # Ratio of components of the first gradient above which scales are searched.
    # Part of the change of a gradient over the longest step that `Curvatures.third_order` leaves at most. Regressions
    # of tests/inference/test_scales.py, 1e7 above their modes: without, 54 to 56 evaluations; from 0.5 to 0.1, 23 to
    # 27.
    unexplained: float = 0.3
    tries: int = 12  # First steps, each a fifth of the previous one, until the start is given up.
    steps: tuple[int, int] = (40, 2)  # Maximum number of steps, and more for each dimension.
    # The same where the log density is noisy. Noise of 0.3 to 3 in 2 and 5 dimensions: more find no lower mode.
    noisy_steps: tuple[int, int] = (10, 1)
    slack: float = 2.0  # Allowance for noise of a decrease, in standard deviations (Sun and Nocedal 2023).
    # Steps in succession without curvature, each with a larger decrease, that show an unbounded potential: heavy tails
    # and separable data have fewer.
    falling: int = 8
    falling_far: float = 10.0  # Length of the last of them, in units of the length of x0.


@dataclass(frozen=True)
class Probing:
    """Curvatures in the directions that a descent has not seen."""

    near_one: float = 3.0  # Factor within which random curvatures have to be one.
    # A direction is probed again if the secants of the checks lower its curvature below this share. Incomes by height
    # in tests/inference/test_scales.py: at a third, one mode of twelve was 9 standard deviations off.
    softer: float = 0.4
    fewest_checked: int = 3  # Minimum number of random directions that are checked.
    checked: int = 10  # Dimensions for each of them.
    batches: int = 6  # Batches in which unseen directions are probed: each sets the scale of the next.
    most_batches: int = 24  # Maximum number of batches.
    noisy_checks: int = 2  # Batches beyond `batches` where the log density is noisy.
    telling: int = 16  # Directions of a batch that suffice to describe all others: from 96 dimensions on.
    # Mean squared length of a gradient's unpredicted change up to which it is predicted. The elliptic problem in 200
    # dimensions, two seeds: at 1, 132 and 264 units in this stage, and the same verdicts.
    predicted: float = 2.0
    common: float = 0.25  # Quantile of the curvatures of a batch that directions outside of a low rank have.
    resolved: float = 0.1  # Curvature, in units of that one, above which it belongs to the low rank.
    growth: float = 3.0  # Growth of the assumed third derivative where random curvatures are not near one.
    descents: int = 10  # Maximum number of descents, each followed by probing.
    # The same where the log density is noisy. Noise of 0.3 to 3 in 2 and 5 dimensions: more find no lower mode.
    noisy_descents: int = 2
    # Potential below that of a mode that shows a further decrease: the Hessian predicts a fourth of it at most.
    lower: float = 2.0
    noise: float = Judging.surprise  # Standard deviations of noise by which it has to be lower still.


@dataclass(frozen=True)
class Noise:
    """Whether exact values are noisy."""

    noisy: float = 2.0 * Judging.noisy  # Standard deviation of noise worth a warning, in units of log density.
    pairs: int = 8  # Number of neighbours that are evaluated.
    apart: float = 1e-5  # Their whitened distance: nothing smooth changes by `noisy` over it.
    neighbours: float = 1e-9  # Distance of neighbours of the start, relative to its coordinates.
    nearer: float = 1e-3  # Factor of that distance at which noise is measured again: noise stays, smooth terms vanish.
    vanished: float = 0.1  # Ratio of the two below which the first was no noise: for noise, one in a hundred.
    # Noise over height that excludes no lower potential: single precision has 1e-7, solvers 1e-6.
    accuracy: float = 1e-5
    felt: float = 1e-3  # Standard deviation above which differences and descents allow for noise: see `Differences`.


@dataclass(frozen=True)
class Walls:
    """Undeclared bounds."""

    near: float = 3.5  # Whitened distance from the mode, in units of sqrt(d) + 1, of zero densities that matter.
    looks: int = 4  # Fruitless looks, after which zero densities are left to the importance weights.
    halvings: int = 14  # Values that locate a wall: to 1 / 16000 of the distance from the lowest point to zero density.


@dataclass(frozen=True)
class Seeking:
    """From a start to a mode by emulated outputs."""

    first_step: float = 1.0  # First step of each input, in units of its expected scale.
    rounds: int = 5  # Rounds of steps, each for the inputs whose previous one was too long or too short.
    felt: float = 2.0  # Change of the outputs, in units of their errors, that a new step aims at.
    least_felt: float = 1e-3  # Smallest change of a step that is long enough.
    most_felt: float = 100.0  # Largest change of a step that is short enough.
    growth: float = 100.0  # Largest factor between two steps.
    shrinkage: float = Search.shrinkage
    steps: int = 60  # Gauss-Newton steps.
    lost: float = 0.5  # Half width of the trust region below which runs along each axis come first.
    around: float = 0.5  # Whitened length of these.
    looks: int = 4  # Their maximum number.
    first_radius: float = 2.0  # Half width of the first trust region, in whitened coordinates.
    longest: float = 10.0  # Half width of the largest, for few data; of one that grows without a limit, see `exact`.
    # Data above which it is larger: the posterior of more data is narrower, and starts are more of its widths away.
    many: int = 1000
    small: float = 0.1  # Predicted decrease, times sqrt(d), below which the mode is found.
    sure: float = 0.01  # Variance of U - V up to which known runs need no further run at a minimum.
    poor: float = Descent.poor
    good: float = 0.5  # Decrease over predicted decrease above which the region grows.
    exact: float = 0.1  # Difference of that ratio from one below which the region is unlimited, see `regions`.
    # Regions to the mode above which that holds: a step of length r lowers a quadratic by r times the distance.
    regions: float = 10.0
    shorter: float = Descent.shorter
    longer: float = Descent.longer

    def longest_of(self, data: int) -> float:
        """Half width of the largest trust region for a number of data."""
        return self.longest * math.sqrt(max(1.0, data / self.many))
