"""Every tuned number of `rnshmc.sample`, by stage, with its meaning, unit and source.

A source is a paper, or the experiment that chose the number. "Benchmark" is

    scripts/in-env.sh python benchmarks/inference.py --seeds 10

on paper A's regressions and densities of known moments; docs/development/inference-tried.md has what was tried. A
number without a source was set once and not varied. A number that is defined by another one is no number of its own.
`tuning_shared` has the numbers of several stages, `tuning_start` those of the stages before the surrogate, and
`tuning_result` those of Markov chains, draws and verdict. Candidates for the covariance of the process are in
`rnshmc.inference.surrogate.covariance_search` and `gradient_kernel`.
"""

from dataclasses import dataclass, field, replace

from rnshmc.inference.tuning_result import AdaptedHMC, Judging, Modes, Teaching, Trajectories
from rnshmc.inference.tuning_shared import BATCH, FEW, ROUNDS, TOLERATED, TRIES
from rnshmc.inference.tuning_start import (
    Curvatures,
    Descent,
    Differences,
    Noise,
    Probing,
    Search,
    Seeking,
    Surveying,
)


@dataclass(frozen=True)
class Fitting:
    """The surrogate posterior: a Gaussian process within a sphere, in whitened coordinates."""

    wall: float = 4.0  # Distance of the wall beyond sqrt(d).
    # Distance of the wall beyond the farthest plausible training point, where that is more. A draw that is as near to
    # the wall stands for the mass beyond it.
    wall_margin: float = 1.0
    hugging: bool = False  # Whether that distance is from the plausible points in each direction.
    # Height above the lowest potential, less d, up to which a point may be a draw: 4 sd of chi-square / 2 at d = 8.
    plausible: float = 8.0
    # Curvature far from all points, where the posterior's is 1. It is smaller, for no weight corrects what is never
    # drawn.
    prior: float = 0.5
    # Height, in units of `plausible` + d, above which potentials are compressed. A factor of 2 distorts Bank's fit.
    ceiling: float = 8.0
    # Standard deviation of errors of potentials, relative to their height above `rough_from`, and of long gradients:
    # docs/development/tried/bends.md, "Hierarchies that are not centred".
    rough: float = TOLERATED
    # Height above the lowest potential, and more for each dimension, from which potentials have these errors. GARCH,
    # seeds 1 to 16: from 8 + d on, three good results were wrong and the median took 477 units; with this, 0 and 373.
    rough_from: tuple[float, float] = (0.5 * plausible, 1.5)
    # Maximum of those errors, relative to the same share of what a standard normal density does not explain.
    unexplained: float = 3.0
    # Maximum standard deviation of the process, if a candidate is below it. Benchmark: bent densities need a bound.
    most_amplitude: float = 100.0
    most_rows: int = 9000  # Equations of the largest system: 0.65 GB in double precision.
    # Maximum dimensions of a process of all directions. At 10, a precise PDE in 20 takes longer.
    whole: int = 30
    # Mean squared length of the part of residual gradients that may be outside the process.
    neglected: float = TOLERATED * TOLERATED
    least_directions: int = 10  # Minimum directions of a process of some, where there are many points.
    trajectories: Trajectories = field(default_factory=Trajectories)

    def rows_of(self, dim: int) -> int:
        """Minimum number of equations of a point with its gradient."""
        return 1 + (dim if dim <= self.whole else min(dim, self.least_directions))

    def rough_height(self, dim: int) -> float:
        """Height above the lowest potential from which potentials have errors."""
        return self.rough_from[0] + self.rough_from[1] * dim

    def plausible_height(self, dim: int) -> float:
        """Height of plausible draws above the lowest potential, at most."""
        return self.plausible + dim


@dataclass(frozen=True)
class TailChecks:
    """Mass far out that a surrogate may miss."""

    small: float = 0.25  # Bias, or error variance, of a moment that is tolerated, in units of the target's.
    look: int = 32  # Exact values of a look further out, times the dimension: few dimensions have longer tails.
    along: int = ROUNDS  # Exact values beyond each end of the driver of a warp, a standard deviation from its mean.
    # |U - V| above which a look counts a difference, and sd(U - V) by the process above which a position is open;
    # corrections account for less.
    gross: float = Judging.sd_good


@dataclass(frozen=True)
class Training:
    """Batches of exact evaluations at draws of the surrogate."""

    chains: int = 128
    transitions: int = 25  # Transitions of each chain between two fits.
    # Training points with gradients; in more than `Fitting.whole` dimensions, besides those before training.
    most_points: int = 320
    most_values: int = 3000  # Training points without gradients, each one equation where the others are d + 1.
    most_runs: int = 1000  # Runs of a forward model with emulated outputs.
    known: float = 0.8  # Maximum share of known points among the training points: others check the surrogate.
    # A surrogate that is far off after this many times d + `FEW` points is given up. Benchmark, GARCH: 8 of 20 to 2.
    hopeless: float = 6.0
    shoulders: float = 5.0  # Dimensions with as many tempered points as draws; more dimensions have fewer.
    # Minimum training points, besides one for each dimension or two for each term of a quadratic.
    fewest: int = FEW
    shrunk: float = 0.5  # Share of the exact values that corrections need when the process's expectation helps.
    # Variance over that of a normal density with the mean Hessian, above which the covariance whitens. Benchmark: at 2
    # noise triggers it in 25 dimensions; at 4 points of a banana are out of reach.
    bent: float = 3.0
    # Factor within which whitened curvatures are one, so that coordinates stay; and less one, whitened distance of the
    # mean.
    unchanged: float = 1.25
    at_wall: float = 2e-3  # Maximum share of the surrogate's draws at its wall.
    # Dimensions up to which a warp is searched while the first good draws are not trusted yet, and shorter lengths
    # clear the first surrogate's draws from its wall. Banana, median of 20 seeds: 133 units, and 160 without that
    # search; on Bank, in 25 dimensions, it took eleven of fourteen seconds. Fifteen bananas in 30 dimensions, where
    # none is good: 1832 units and 103 s with shorter lengths, 1032 and 73 without.
    cheap: int = 12
    # Variance of the importance weights up to which draws may whiten and a surrogate may be used, and above which it is
    # far off; the largest that counts in the average of two batches.
    sound: float = 4.0
    # Variance of the importance weights up to which a surrogate that cannot improve is used, and above which a warp is
    # searched between batches. Maximum missing mass at shoulder points, relative to the surrogate's; V - U at a
    # plausible point above which the surrogate misses a part of the posterior.
    usable: float = 1.0
    # Factor on the tolerated bias of a moment after as many points where it is open as before.
    lenient: float = 4.0
    believed: float = 4.0  # Prior weight of that calibration for processes of outputs, in surprises.


@dataclass(frozen=True)
class Process:
    """Posteriors drawn from the Gaussian process given the training points."""

    chains: int = Training.chains
    settle: int = Training.transitions  # Transitions of a chain on the surrogate before its first state is taken.
    every: int = 10  # Transitions between two states that are taken.
    paths: int = 400  # Potentials drawn: the 2.5% and 97.5% quantiles rest on ten each.


@dataclass(frozen=True)
class Bending:
    """Warped coordinates, fitted by a match of gradients; varied on the twisted Gaussian and the funnel."""

    first: tuple[int, int] = (15, 3)  # Gradients, and more per dimension, of a long descent. Few take as many.
    filling: float = 0.25  # Points where too much was open, relative to all others, above which a warp is searched.
    most: int = TRIES  # Maximum number of warps in a run.
    most_dim: int = 40  # Maximum dimensions of a warp: a fit takes d^4 operations.
    points: int = 150  # Latest gradients that are matched, times max(1, d / 10).
    fewest: float = 1.5  # Minimum number of gradients that are matched, besides `folds`, for each dimension.
    drivers: int = 4  # Drivers that are fitted: those on which residuals of a plain match depend most.
    finalists: int = 2  # Warps that are compared by held-out gradients.
    folds: int = 5  # Parts in which gradients are held out.
    level: float = 0.05  # Maximum share of the gradient by a centre that those of its effects leave.
    # Distance from an integer within which a coefficient of a centre is that integer. Eight schools, three seeds: as
    # fitted, 0.96 to 1.03, no surrogate behind them was good.
    near: float = TOLERATED
    # Maximum sum of squared partial correlations of effects around their centre. Around one of them it is one: each of
    # J has -1 / sqrt(J) with it. Where few gradients leave all of that open, eight schools had 1.03 to 6.5.
    coupled: float = 0.5
    powers: tuple[float, ...] = (0.5, 1.0, 2.0)  # Powers of exp(driver) that are simple.
    nearly: float = 4.0  # Factor within which the steepest fitted slope is near a power.
    # Loss of held-out gradients above which a warp is suspected. Hospitals, centred: 0.2; Bank, 0.1, needs no warp.
    suspect: float = 0.15
    # Loss of held-out gradients, relative to that of the current coordinates, up to which a warp is taken. At 0.8, and
    # without standard errors, log-gamma densities were warped, and needed up to five times the units.
    share: float = 0.5
    # The same for the current warp, fitted to more points. At 0.5, one funnel of three fell back.
    again_share: float = 0.8
    sure: float = 2.0  # Standard errors by which the loss has to be smaller.
    better: float = 0.02  # Minimum decrease of the loss, which is 0 if all gradients are explained, and 1 if none is.
    shift: float = 10.0  # Prior scale of shifts, in conditional standard deviations of each coordinate.
    slope: float = 2.0  # Prior scale of the slope of log scales, per standard deviation of the driver.
    turn: float = 0.5  # Prior scale of the change of that slope, which points may not show on both sides.
    affine: float = 3.0  # Prior scale of scales and shifts of whitened coordinates.
    steepest: float = 3.0  # Largest slope of log scales from which a fit starts.
    rounds: int = 3  # Fits of a layer, each followed by one of a Hessian. With 0 of these, funnels were missed.
    # Hessians fitted in turn behind a given layer. With 3, one of centred eight schools was far from there.
    turns: int = 6
    most_curved: float = 10.0  # Largest curvature that a round adds, and inverse of the smallest.
    steps: int = 20  # Steps of least squares in a round, taken or not.
    damping: float = 1e-2  # First damping, and the factor between two: as Marquardt (1963).
    factor: float = 10.0
    settled: float = 1e-3  # Relative decrease at which steps end.


@dataclass(frozen=True)
class Correction:
    """Exact values at draws of the finished surrogate."""

    precision: float = 0.5  # Independent draws with the target errors of expectations, for each requested draw.
    # Exact values in a round at draws that are influential for variances, where tails are long; runs between two fits
    # to all runs of a forward model. At 20, two modes from two rows take 154 runs, not 146.
    influential: int = 2 * BATCH
    settle: int = Process.settle
    transitions: int = Judging.enough  # Draws kept of each chain of the surrogate.
    rhat: float = Judging.rhat_good
    doublings: int = ROUNDS  # Maximum number of times that chains that disagree are made twice as long.
    hopeless: float = Judging.rhat_bad  # R-hat above which half of the doublings end them: chains in different places.
    exact_chains: int = AdaptedHMC.chains  # Chains in which the exact density decides among the checked draws.


@dataclass(frozen=True)
class Tuning:
    """All tuned numbers."""

    curvatures: Curvatures = field(default_factory=Curvatures)
    differences: Differences = field(default_factory=Differences)
    search: Search = field(default_factory=Search)
    descent: Descent = field(default_factory=Descent)
    probing: Probing = field(default_factory=Probing)
    seeking: Seeking = field(default_factory=Seeking)
    surveying: Surveying = field(default_factory=Surveying)
    fitting: Fitting = field(default_factory=Fitting)
    process: Process = field(default_factory=Process)
    tails: TailChecks = field(default_factory=TailChecks)
    training: Training = field(default_factory=Training)
    noise: Noise = field(default_factory=Noise)
    bending: Bending = field(default_factory=Bending)
    correction: Correction = field(default_factory=Correction)
    modes: Modes = field(default_factory=Modes)
    adapted: AdaptedHMC = field(default_factory=AdaptedHMC)
    teaching: Teaching = field(default_factory=Teaching)
    judging: Judging = field(default_factory=Judging)
    attempts: int = 3  # Surrogates trained from the coordinates of the mode: a few percent of adapted HMC each.

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
        """For an attempt on ``known`` states of exact chains, in the current warp."""
        training = replace(self.training, most_points=known + self.training.most_points)
        return replace(self, training=training, bending=replace(self.bending, most=0))


DEFAULT = Tuning()
