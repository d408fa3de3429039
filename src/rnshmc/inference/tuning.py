"""Every tuned number of `rnshmc.sample`, by stage, with its meaning, unit and source.

A source is a paper, or the experiment that chose the number. "Benchmark" is

    scripts/in-env.sh python benchmarks/inference.py --seeds 10

on paper A's regressions and densities of known moments; what was tried is in docs/development/inference-tried.md. A
number without a source was set once and not varied. The numbers of the stages before the surrogate are in
`tuning_start`, those of bent coordinates in `tuning_bends`, those of Markov chains in `tuning_chains`, those of what
comes out in `tuning_result`.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from rnshmc.inference.tuning_bends import Bending
from rnshmc.inference.tuning_chains import AdaptedHMC, Teaching, Trajectories
from rnshmc.inference.tuning_result import Judging, Modes, Resampling
from rnshmc.inference.tuning_start import (
    Curvatures,
    Descent,
    Differences,
    Noise,
    Probing,
    Search,
    Seeking,
    Surveying,
    Walls,
)


@dataclass(frozen=True)
class Fitting:
    """The surrogate posterior: a Gaussian process within a sphere, in whitened coordinates."""

    reach: float = 3.5
    """Radius of the training points, in units of sqrt(d) + 1. Benchmark: points farther out are not fitted well."""
    wall: float = 4.0
    """Distance of the wall beyond sqrt(d)."""
    emulated_wall: float = 6.0
    """The same where outputs are emulated: prior and likelihood are exact, and long tails are often theirs."""
    wall_margin: float = 1.0
    """Distance of the wall beyond the farthest plausible training point, where that is more."""
    hugging: bool = False
    """Whether the wall is so far beyond the plausible points in each direction, not in all that of the farthest."""
    plausible: float = 8.0
    """Height above the lowest potential, less d, up to which a point may be a draw: 4 sd of chi-square / 2 at d = 8."""
    prior: float = 0.5
    """Curvature far from all points; 1 is the posterior's. Below 1, for no weight corrects what is never drawn."""
    ceiling: float = 8.0
    """Height, in units of `plausible` + d, above which potentials are compressed. Benchmark: 2 bends Bank's."""
    rough: float = 0.1
    """Standard deviation of errors of potentials, relative to how far they are above `level`, and of long gradients:
    docs/development/tried/bends.md, "Hierarchies that are not centred"."""
    unexplained: float = 3.0
    """Those errors at most, relative to the same share of what a standard normal density does not explain."""
    level: tuple[float, float] = (4.0, 1.5)
    """Height above the lowest potential, and more for each dimension, up to which potentials have no such errors."""
    most_amplitude: float = 100.0
    """Standard deviation of the process, unless every candidate exceeds it. Benchmark: bent densities need a bound."""
    most_rows: int = 9000
    """Equations of the largest system: 0.65 GB in double precision."""
    whole: int = 30
    """Dimensions up to which the process is one of all directions. At 10, a precise PDE in 20 takes longer."""
    neglected: float = 0.02
    """Mean squared length of the part of residual gradients that may be without a process. Not varied."""
    least_directions: int = 10
    """Directions of a process that is not one of all, at least, where there are many points. Not varied."""
    trajectories: Trajectories = field(default_factory=Trajectories)

    def rows_of(self, dim: int) -> int:
        """Equations of a point with its gradient, at least."""
        return 1 + (dim if dim <= self.whole else min(dim, self.least_directions))

    def plausible_height(self, dim: int) -> float:
        """How far above the lowest the potentials of plausible draws are."""
        return self.plausible + dim

    def reach_of(self, dim: int) -> float:
        """Whitened distance from the centre up to which points are trained on."""
        return float(self.reach * (np.sqrt(dim) + 1.0))


@dataclass(frozen=True)
class Process:
    """Posteriors drawn from the Gaussian process given the training points."""

    chains: int = 128
    settle: int = 20
    """Transitions of a tempered chain before its first state is taken."""
    every: int = 10
    """Transitions between two states that are taken."""
    times: int = 4
    """States taken from each tempered chain."""
    paths: int = 400
    """Potentials drawn: the 2.5% and 97.5% quantiles rest on ten each."""


@dataclass(frozen=True)
class TailChecks:
    """What a surrogate may miss far out."""

    edge: float = 1.0
    """Whitened distance from the wall within which a draw stands for what is beyond it."""
    blind: float = 0.7
    """sd(U - V) by the process from which on a position is open; corrections account for less."""
    unusual: float = 3.0
    """The same in units of its mean over the surrogate. Benchmark: without it a precise PDE takes 60% more units."""
    highest: float = 8.0
    """Logarithm of the largest density ratio that counts."""
    small: float = 0.25
    """Part of a moment that may be missing, in units of the error aimed at."""
    look: int = 32
    """Exact values of a look further out, times the dimension: tails are longer in fewer dimensions."""
    fewest_looked: int = 2
    """Exact values of a look further out, at least."""
    along: int = 4
    """Exact values beyond each end of the driver of a bend. Not varied."""
    end: float = 1.0
    """Standard deviations of the driver from its mean from which on a draw is near an end. Not varied."""
    gross: float = 0.5
    """|U - V| from which on a look counts a difference; corrections account for less."""
    far: float = 3.0
    """Standard deviations beyond which draws of the surrogate do not show that it is too low."""
    stretches: tuple[tuple[int, int], tuple[int, int]] = ((1, 3), (32, 5))
    """Draws of a surrogate, and of chains, that are stretched in the end, and by how many factors."""


@dataclass(frozen=True)
class Training:
    """Batches of exact evaluations at draws of the surrogate."""

    chains: int = 128
    transitions: int = 25
    """Transitions of each chain between two fits."""
    first_batch: int = 8
    """Training points of the first batches."""
    most_points: int = 320
    """Training points with gradients; in more than `Fitting.whole` dimensions, besides those before training."""
    most_values: int = 3000
    """Training points without gradients, each one equation where the others are d + 1."""
    most_runs: int = 1000
    """Runs of a forward model whose outputs are learnt. Not varied."""
    known: float = 0.8
    """Share of the training points that may be known ones: others have to check the surrogate. Not varied."""
    hopeless: float = 6.0
    """A surrogate that is far off after this many times d + 20 points is given up. Benchmark, GARCH: 8 of 20 to 2."""
    stale: float = 1.3
    """Hyperparameters are searched again at this many times the points of the last search."""
    worth: float = 1.3
    """Training goes on while corrections need more exact values than this many times the training points.

    Where sd(U - V) falls as n^-0.75, the sum of both is smallest at 4/3."""
    near: float = 0.3
    """Variance of the weights up to which draws of emulated outputs can be reweighted to later emulators."""
    shoulders: float = 5.0
    """Tempered points are as many as draws in this many dimensions, and fewer in more."""
    fewest: int = 20
    """Training points of every surrogate, besides one for each dimension or two for each term of a quadratic."""
    fewest_checks: int = 25
    """Exact values at draws of the finished surrogate."""
    shrunk: float = 0.5
    """Share of the exact values that corrections need when combined with the process's expectation."""
    bent: float = 3.0
    """Variance over that of a normal density with the mean Hessian, above which the covariance whitens.
    Benchmark: at 2 noise triggers it in 25 dimensions; at 4 points of a banana are out of reach."""
    unchanged: tuple[float, float] = (0.8, 1.25)
    """Whitened curvatures within which coordinates stay as they are."""
    off_centre: float = 0.3
    """Whitened distance of the mean up to which coordinates stay as they are."""
    beyond: tuple[float, float] = (0.0, 3.0)
    """Whitened distance beyond sqrt(d) of training points in random directions."""
    too_high: float = 1.0
    """V - U at a plausible point above which the surrogate misses a part of the posterior."""
    missing: float = 1.0
    """Mass on the shoulders that the surrogate may miss, relative to its own."""
    at_wall: float = 2e-3
    """Share of the surrogate's draws that may be at its wall."""
    wells: int = 12
    """Dimensions up to which the first surrogate has no more draws at its wall than a shorter length leaves. Fifteen
    bananas in 30 dimensions, where none is good: 1832 units and 103 s with that, 1032 and 73 without."""
    more_at_wall: float = 2.0
    """Growth of that share from one fit to the next from which on shorter lengths are tried. Not varied."""
    sound: float = 4.0
    """Variance of the importance weights up to which draws may whiten, and from which on a surrogate is far off."""
    usable: float = 1.0
    """Variance of the importance weights up to which a surrogate that cannot improve is used."""
    looks: int = 4
    """Looks further out, each of which but the last may lead to more training."""
    lenient: float = 4.0
    """Part of a moment that may be missing after as many points where it is open as before, relative to the first."""
    recent: int = 3
    """Batches whose surprises decide how far the process is believed."""
    believed: float = 4.0
    """Surprises as expected that are counted besides those seen, before processes of outputs are believed less."""
    cap: float = 4.0
    """Largest variance of weights that counts in the average of two batches."""


@dataclass(frozen=True)
class Correction:
    """Exact values at draws of the finished surrogate."""

    precision: float = 0.5
    """Expectations aim at the errors of this many independent draws for each draw that was asked for."""
    first: int = 100
    """Exact values before their weights decide how many follow."""
    factor: int = 2
    """Growth of the number of exact values in a round."""
    rounds: int = 5
    influential: int = 16
    """Exact values in a round at draws chosen for their influence on variances, where tails are long."""
    small: float = 0.25
    """Variance that these leave to variances, in units of that aimed at, at which they end."""
    refining: int = 16
    """Runs between two fits to all runs of a forward model. Not varied."""
    left: float = 0.8
    """Variance of moments, in units of that aimed at, at which runs of a forward model end."""
    telling: int = 200
    """Minimum number of weights for diagnosing a heavy tail, or what is behind an edge."""
    expected: float = 0.99
    """Share of the surrogate's draws that are lower than where draws are still expected. Not varied."""
    chance: float = 0.01
    """Level of the test of whether draws failed at random. Not varied."""
    sure: float = 1e-3
    """Variance of the importance weights, by draws and by the processes of outputs, below which a few checks tell."""
    settle: int = 20
    """Transitions of the surrogate's chains that are left out."""
    transitions: int = 200
    """Draws kept of each chain of the surrogate."""
    rhat_chains: int = 64
    """Chains of the surrogate whose R-hat is computed: that of 8 chains of 200 draws exceeds 1.01 by chance."""
    rhat: float = 1.01
    """R-hat up to which they agree (Vehtari et al. 2021)."""
    doublings: int = 4
    """How often chains that disagree are made twice as long."""
    hopeless: tuple[int, float] = (2, 1.1)
    """Doublings after which a larger R-hat ends them: chains in different places. Not varied."""
    exact_chains: int = 4
    """Chains in which the exact density decides among the checked draws."""
    least_efficiency: float = 0.2
    """Efficiency of the importance weights of a surrogate that is used."""
    much_open: float = 0.04
    """Variance that a surrogate in use may leave to means or variances, in units of a normal variable's: an error of a
    fifth of a standard deviation. Twelve seeds of the half normal of tests/inference/test_walls.py, without gradients:
    202 to 255 units left errors of up to 1.8 standard deviations; 202 to 347, with this, at most 0.06."""


@dataclass(frozen=True)
class Tuning:
    """All of them."""

    walls: Walls = field(default_factory=Walls)
    curvatures: Curvatures = field(default_factory=Curvatures)
    differences: Differences = field(default_factory=Differences)
    search: Search = field(default_factory=Search)
    descent: Descent = field(default_factory=Descent)
    probing: Probing = field(default_factory=Probing)
    seeking: Seeking = field(default_factory=Seeking)
    surveying: Surveying = field(default_factory=Surveying)
    widest: float = 2.0
    """Largest scale of the unconstrained coordinate of a bounded parameter: a standard logistic has 1.8."""
    fitting: Fitting = field(default_factory=Fitting)
    process: Process = field(default_factory=Process)
    tails: TailChecks = field(default_factory=TailChecks)
    training: Training = field(default_factory=Training)
    noise: Noise = field(default_factory=Noise)
    bending: Bending = field(default_factory=Bending)
    correction: Correction = field(default_factory=Correction)
    resampling: Resampling = field(default_factory=Resampling)
    modes: Modes = field(default_factory=Modes)
    adapted: AdaptedHMC = field(default_factory=AdaptedHMC)
    teaching: Teaching = field(default_factory=Teaching)
    judging: Judging = field(default_factory=Judging)
    attempts: int = 3
    """Times that a surrogate is trained, each from the coordinates of the mode: a few percent of adapted HMC each."""
    fewest_draws: int = 100
    """Exact draws for which chains are begun, where the budget does not suffice for all."""

    def again(self, known: int) -> "Tuning":
        """For another attempt, with ``known`` points there, and as many more as the first one had.

        The wall is near the plausible points, for beyond them the first may have had wells:
        docs/development/tried/fallback.md, "Later attempts".
        """
        fitting = replace(self.fitting, hugging=True)
        training = replace(
            self.training, most_points=known + self.training.most_points, most_values=known + self.training.most_values
        )
        return replace(self, fitting=fitting, training=training)

    def trained_on_chain_states(self, known: int) -> "Tuning":
        """For an attempt on ``known`` states of exact chains, from coordinates that are bent as they are."""
        training = replace(self.training, most_points=known + self.training.most_points)
        return replace(self, training=training, bending=replace(self.bending, most=0))


DEFAULT = Tuning()
