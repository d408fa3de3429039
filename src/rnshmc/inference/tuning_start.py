"""Tuned numbers of `rnshmc.sample` before there is a surrogate: the search for a mode, noise, and bounds."""

from dataclasses import dataclass

from rnshmc.inference.tuning_result import Judging, Modes
from rnshmc.inference.tuning_shared import BAD, BATCH, FEW, RARE, TOLERATED, TRIES


@dataclass(frozen=True)
class Curvatures:
    """The Hessian fitted to secants: changes of the gradient over steps."""

    third_order: float = 0.02  # Change of a whitened gradient beyond its linear part, per squared whitened distance.
    # Distance, in units of sqrt(d), over which gradients are compared. At `reach_of`, banana took 167 units, not 146.
    near: float = 3.0
    least: float = 0.1  # Smallest curvature of a new estimate, in the coordinates of the previous one.
    most: float = 1e3  # Largest curvature of a new estimate.


@dataclass(frozen=True)
class Differences:
    """Gradients by differences of values, in whitened coordinates."""

    step: float = TOLERATED  # Shortest step: above the noise of a simulator, small for the posterior.
    longest: float = 2.0  # Longest step, for noisy values: within the posterior.


@dataclass(frozen=True)
class Search:
    """The search for the scale of each coordinate."""

    # First step, relative to the coordinate, or absolute where that is zero. A descent ends at steps that are as
    # short compared with a Newton step. Components of its first gradient that differ by more than the inverse show that
    # scales have to be searched.
    first: float = 1e-4
    # Smallest change of the potential over a step from which its curvature is taken, and inverse of the largest.
    low: float = 0.05
    # Largest growth of a step, and growth of one that does not change the potential at all; largest scale, in units of
    # the step that measures it.
    growth: float = 100.0
    # Factor of a step after a failure or an infinite potential; smallest scale, in units of the step that measures it.
    shrinkage: float = 0.1
    least_growth: float = 3.0  # Smallest growth of a step that changes the potential too little.
    rounds: int = 10  # Maximum number of rounds of steps.
    above_noise: float = 10.0  # Smallest change of the potential over a step, in standard deviations of its noise.
    resolved: float = 1e-12  # Relative change of the potential above rounding: 5000 times double precision.


@dataclass(frozen=True)
class Surveying:
    """The search of a prior for all modes, on emulated outputs."""

    # Runs at draws of the prior before the first round, for each of `ROUNDS` dimensions or more. Of searches for the
    # other mode of the folded plate of benchmarks/modes.py, from drawn starts, 4 of 4 missed it without these, and 1 of
    # 8 with them. With 4 in two dimensions, 7 of 20 missed an image and were certain, with 8 three did.
    first: int = 2
    each: int = 3  # Maximum number of runs of a round at uncertain minima.
    # Runs of a round at tempered draws. With 2, as many of the same searches missed a mode, after 13 to 43 runs instead
    # of 18 to 33.
    spread: int = 1
    effective: int = FEW  # Effective number of draws of the prior at their temperature.
    descents: int = BATCH  # Descents on the emulator in a round, from tempered draws.
    # Power of the share of the emulator's errors that agree with the data: by a symmetry of the model, errors of its
    # outputs agree together, not one by one. Of ten searches for the folded plate's other mode, 4, 0 and 2 missed it
    # and were certain with 1, 1/2 and 0.
    agreeing: float = 0.5
    sure: float = Judging.sd_good  # sd(U - V) at a minimum up to which the emulator is certain of it.
    # Logarithm of the mass of an uncertain minimum, relative to the known modes, from which the model is run there.
    # Of ten searches for the folded plate's other mode 0, 0 and 3 missed it and were certain with -10, -8 and -5.
    negligible: float = Modes.negligible
    highest: float = 2.0 * Modes.negligible  # Height of a minimum above the lowest one up to which its mode may count.
    # Height of the potential between two minima, above the higher one, that separates them; and logarithm of the factor
    # by which errors have to raise the likelihood to hide a mode. On the elliptic PDE, without the latter, errors of
    # known modes count: 2% to 3% of the mass, and doubtful results on 4 of 4 seeds.
    barrier: float = 1.0
    # Mass that the emulator may hide, relative to the known modes, at the end. A good result leaves no more elsewhere.
    left: float = RARE
    quiet: int = 1  # Rounds in succession in which nothing is found or left open; one more ends the search.
    rounds: int = TRIES  # Maximum number of rounds. Of thirty such searches, 10, 4 and 0 missed one with 6, 8 and 12.


@dataclass(frozen=True)
class Descent:
    """From a start to the neighbourhood of a mode, in a trust region."""

    first_decrease: float = 10.0  # Decrease of the potential that the first step aims at.
    # Part of the change of a gradient over the longest step that `Curvatures.third_order` leaves at most. Regressions
    # of tests/inference/test_scales.py, 1e7 above their modes: without, 54 to 56 evaluations; from 0.5 to 0.1, 23 to
    # 27. Funnel in 6 dimensions, seeds 1 to 20: at 0.1 two end in exact chains, and the median is 450 units; with
    # this, none does, and it is 309.
    unexplained: float = BAD * TOLERATED
    steps: tuple[int, int] = (40, 2)  # Maximum number of steps, and more for each dimension.
    # Share of the steps and of the descents where the log density is noisy. Noise of 0.3 to 3 in 2 and 5 dimensions:
    # more find no lower mode.
    noisy: float = 0.2
    # Length, in units of the length of x0, of the last of `TRIES` steps without curvature, each with a larger decrease,
    # that show an unbounded potential: heavy tails and separable data have fewer.
    falling_far: float = 10.0


@dataclass(frozen=True)
class Probing:
    """Curvatures in the directions that a descent has not seen."""

    # Factor within which random curvatures have to be one, and growth of the assumed third derivative where they are
    # not.
    near_one: float = 3.0
    # A direction is probed again if the secants of the checks lower its curvature below this share. Incomes by height
    # in tests/inference/test_scales.py: at a third, one mode of twelve was 9 standard deviations off.
    softer: float = 0.4
    fewest_checked: int = 3  # Minimum number of random directions that are checked.
    # Batches in which unseen directions are probed: each sets the scale of the next. Half a batch is checked.
    batches: int = 6
    telling: int = 16  # Directions of a batch that suffice to describe all others: from 96 dimensions on.
    # Mean squared length of a gradient's unpredicted change up to which it is predicted. The elliptic problem in 200
    # dimensions, two seeds: at 1, 132 and 264 units in this stage, and the same verdicts.
    predicted: float = 2.0
    common: float = 0.25  # Quantile of the curvatures of a batch that directions outside of a low rank have.


@dataclass(frozen=True)
class Noise:
    """Whether exact values are noisy."""

    apart: float = 1e-5  # Whitened distance of neighbours: nothing smooth changes by `Judging.noisy` over it.
    neighbours: float = 1e-9  # Distance of neighbours of the start, relative to its coordinates.
    nearer: float = 1e-3  # Factor of that distance at which noise is measured again: noise stays, smooth terms vanish.
    # Noise over height that excludes no lower potential: single precision has 1e-7, solvers 1e-6.
    accuracy: float = 1e-5


@dataclass(frozen=True)
class Seeking:
    """From a start to a mode by emulated outputs."""

    # Change of the outputs, in units of their errors, that a step along an input aims at; half width of the first trust
    # region, in whitened coordinates.
    felt: float = 2.0
    # Half width of the largest region. It is unlimited, if the decrease is predicted well, where the mode is more than
    # as many regions away: a step of length r lowers a quadratic by r times the distance.
    longest: float = 10.0
