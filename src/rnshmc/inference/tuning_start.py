"""Tuned numbers of `rnshmc.sample` before there is a surrogate: the search for a mode, noise, and bounds."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Curvatures:
    """The Hessian fitted to secants: changes of the gradient over steps."""

    third_order: float = 0.02
    """Change of a whitened gradient beyond its linear part, per squared whitened distance. Not varied."""
    near: float = 3.0
    """Distance, in units of sqrt(d), over which gradients are compared. Not varied."""
    least: float = 0.1
    """Smallest curvature of a new estimate, in the coordinates of the last one. Not varied."""
    most: float = 1e3
    """Largest one. Not varied."""


@dataclass(frozen=True)
class Differences:
    """Gradients by differences of values, in whitened coordinates."""

    step: float = 0.1
    """Shortest step: above the noise of a simulator, small for the posterior. Not varied."""
    longest: float = 2.0
    """Longest step, for noisy values: within the posterior. Not varied."""


@dataclass(frozen=True)
class Search:
    """The search for the scale of each coordinate."""

    first: float = 1e-4
    """First step, relative to the coordinate, or absolute where that is zero. Not varied."""
    low: float = 0.05
    """Smallest change of the potential over a step from which its curvature is taken. Not varied."""
    high: float = 20.0
    """Largest one. Not varied."""
    most_growth: float = 1000.0
    """Largest growth of a step in a round; less where the potential would change by more than one. Not varied."""
    blind_growth: float = 100.0
    """Growth of a step that does not change the potential at all. Not varied."""
    least_growth: float = 3.0
    """Growth of a step that changes it too little, at least. Not varied."""
    shrinkage: float = 0.1
    """Factor of a step that leads to no finite potential. Not varied."""
    narrow: float = 0.1
    """Smallest scale, in units of the step that it is measured with. Not varied."""
    wide: float = 100.0
    """Largest one. Not varied."""
    rounds: int = 10
    """Rounds of steps, at most. Not varied."""
    resolved: float = 1e-12
    """Relative change of the potential that is more than rounding: 5000 times that of double precision."""
    above_noise: float = 10.0
    """Smallest change of the potential over a step, in standard deviations of its noise. Not varied."""


@dataclass(frozen=True)
class Surveying:
    """The search of a prior for all modes, on emulated outputs."""

    first: tuple[int, int] = (10, 2)
    """Runs at draws of the prior, and more for each dimension, before the outputs are emulated."""
    each: int = 3
    """Runs of a round at tempered draws, and at most as many at minima that the emulator is not sure of."""
    effective: float = 20.0
    """Effective number of draws of the prior at their temperature."""
    descents: int = 8
    """Descents on the emulator in a round, from tempered draws."""
    hope: float = 1.0
    """Standard deviations of U - V below V at which the potential may be. Of thirty searches for two modes of
    benchmarks/modes.py, by hand, 4 missed one without, and none with 0.5, 1 and 2."""
    sure: float = 0.25
    """Variance of U - V at a minimum up to which the emulator is sure of it."""
    highest: float = 20.0
    """Height of a minimum above the lowest one up to which its mode may count: twice `Modes.negligible`."""
    barrier: float = 1.0
    """Height of the potential between two minima, above the higher one, that makes them two."""
    quiet: int = 1
    """Rounds in succession without a new minimum, and one more ends the search."""
    rounds: int = 12
    """Rounds at most. Of the same thirty, 10, 4 and 0 missed a mode with 6, 8 and 12."""


@dataclass(frozen=True)
class Descent:
    """From a start to the neighbourhood of a mode."""

    close: float = 1.0
    """Length of the whitened gradient at which a descent ends: a standard deviation from the mode."""
    poor: float = 0.1
    """Decrease over predicted decrease below which a step is not taken. Not varied; usual for trust regions."""
    good: float = 0.7
    """The same above which the next step may be longer. Not varied; usual for trust regions."""
    shorter: float = 0.3
    """Factor of the trust region after a poor step. Not varied."""
    longer: float = 2.0
    """The same after a good step. Not varied."""
    first_decrease: float = 10.0
    """Decrease of the potential that the first step aims at. Not varied."""
    shortest: float = 1e-4
    """Length of a step, in units of a Newton step, at which a descent ends. Not varied."""
    uneven: float = 1e4
    """Ratio of components of the first gradient from which on scales are searched. Not varied."""
    unexplained: float = 0.3
    """Part of the change of a gradient over the longest step that `Curvatures.third_order` leaves at most. Regressions
    of tests/inference/test_scales.py, 1e7 above their modes: without, 54 to 56 evaluations; from 0.5 to 0.1, 23 to 27.
    """
    tries: int = 12
    """First steps, each a fifth of the one before, until the start is given up. Not varied."""
    steps: tuple[int, int] = (40, 2)
    """Steps at most, and more for each dimension. Not varied."""
    noisy_steps: tuple[int, int] = (10, 1)
    """The same where the log density is noisy. Noise of 0.3 to 3 in 2 and 5 dimensions: more find no lower mode."""
    slack: float = 2.0
    """Noise of a decrease that is allowed for, in standard deviations (Sun and Nocedal 2023). Not varied."""
    falling: int = 8
    """Steps in succession without curvature, each of a larger decrease, that show a potential without bound.

    Heavy tails and separable data have fewer."""
    falling_far: float = 10.0
    """Times the length of x0 that the last of them has to be long. Not varied."""


@dataclass(frozen=True)
class Probing:
    """Curvatures in the directions that a descent has not seen."""

    near_one: float = 3.0
    """Factor within which random curvatures have to be one. Not varied."""
    softer: float = 0.4
    """Share of what a curvature was before the secants of the checks, below which its direction is probed, too. Incomes
    by height in tests/inference/test_scales.py: at a third, one mode of twelve was 9 standard deviations off."""
    fewest_checked: int = 3
    """Random directions that are checked, at least. Not varied."""
    checked: int = 10
    """Dimensions for each of them. Not varied."""
    batches: int = 6
    """Batches in which unseen directions are probed: each sets the scale of the next. Not varied."""
    most_batches: int = 24
    """Batches at most. Not varied."""
    noisy_checks: int = 2
    """Batches beyond `batches` where the log density is noisy. Not varied."""
    telling: int = 16
    """Directions of a batch from which on it tells of those that were not probed: from 96 dimensions on."""
    predicted: float = 2.0
    """Mean squared length of the change of a gradient that is not predicted, up to which it is. The elliptic problem in
    200 dimensions, two seeds: at 1, 132 and 264 units in this stage, and the same verdicts."""
    common: float = 0.25
    """Quantile of the curvatures of a batch that those across a low rank have. Not varied."""
    resolved: float = 0.1
    """Curvature, in units of that one, from which on it belongs to the low rank. Not varied."""
    growth: float = 3.0
    """Growth of the assumed third derivative where random curvatures are not near one. Not varied."""
    descents: int = 10
    """Descents, each followed by probing, at most. Not varied."""
    noisy_descents: int = 2
    """The same where the log density is noisy. Noise of 0.3 to 3 in 2 and 5 dimensions: more find no lower mode."""
    lower: float = 2.0
    """How far below a mode a potential shows that it was none: the Hessian predicts a fourth at most."""
    noise: float = 4.0
    """Standard deviations of noise by which it has to be lower still. Not varied."""


@dataclass(frozen=True)
class Noise:
    """Whether exact values are noisy."""

    noisy: float = 0.1
    """Standard deviation of noise worth a warning, in units of log density."""
    pairs: int = 8
    """Neighbours that are evaluated."""
    apart: float = 1e-5
    """Their whitened distance: nothing smooth changes by `noisy` over it."""
    neighbours: float = 1e-9
    """Distance of neighbours of the start, relative to its coordinates. Not varied."""
    nearer: float = 1e-3
    """Factor of that distance at which noise is measured again: noise stays, what is smooth vanishes. Not varied."""
    vanished: float = 0.1
    """Ratio of the two below which the first was none: for noise, one in a hundred."""
    accuracy: float = 1e-5
    """Noise over height, below which it says nothing of lower potentials: single precision has 1e-7, solvers 1e-6."""
    felt: float = 1e-3
    """Standard deviation from which on differences and descents take account of noise: see `Differences.step`."""


@dataclass(frozen=True)
class Walls:
    """Undeclared bounds."""

    near: float = 3.5
    """Whitened distance from the mode, in units of sqrt(d) + 1, of zero densities that matter: as `Fitting.reach`."""
    looks: int = 4
    """Fruitless looks, after which zero densities are left to the importance weights."""
    halvings: int = 14
    """Values that locate a wall: to 1 / 16000 of the distance from the lowest point to one of zero density."""


@dataclass(frozen=True)
class Seeking:
    """From a start to a mode by emulated outputs. Nothing here was varied."""

    first_step: float = 1.0
    """Of each input, in units of its expected scale."""
    rounds: int = 5
    """Rounds of steps, each for the inputs whose last one was too long or too short."""
    felt: float = 2.0
    """Change of the outputs, in units of their errors, that a new step aims at."""
    least_felt: float = 1e-3
    """Change from which on a step is long enough."""
    most_felt: float = 100.0
    """Change up to which a step is short enough."""
    growth: float = 100.0
    """Largest factor between two steps."""
    shrinkage: float = 0.1
    """Factor after a failed step."""
    steps: int = 60
    """Gauss-Newton steps."""
    lost: float = 0.5
    """Half width of the trust region below which runs along each axis come first."""
    around: float = 0.5
    """Whitened length of these."""
    looks: int = 4
    """How often."""
    first_radius: float = 2.0
    """Half width of the first trust region, in whitened coordinates."""
    longest: float = 10.0
    """Half width of the largest, for few data; of one that grows without a limit, see `exact`."""
    many: int = 1000
    """Data from which on it is larger: the posterior of more is narrower, and starts are more of its widths away."""
    small: float = 0.1
    """Predicted decrease, times sqrt(d), below which the mode is found."""
    sure: float = 0.01
    """Variance of U - V at which runs that were known before need no other at a minimum."""
    poor: float = 0.1
    """Decrease over the predicted one below which the region shrinks."""
    good: float = 0.5
    """The same, above which it grows."""
    exact: float = 0.1
    """Difference of that ratio from one below which it grows without a limit, if the mode is `regions` away."""
    regions: float = 10.0
    """Largest regions to a mode so far away: a step of length r lowers a quadratic by r times the distance."""
    shorter: float = 0.3
    longer: float = 2.0

    def longest_of(self, data: int) -> float:
        """Half width of the largest trust region for so many data."""
        return self.longest * math.sqrt(max(1.0, data / self.many))
