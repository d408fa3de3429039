"""Tuned numbers of `rnshmc.sample`: draws to return, several modes, and the limits of the verdict."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Resampling:
    """Draws of the surrogate, reweighted to the corrected moments."""

    even_enough: float = 0.5
    """Efficiency of the importance weights below which the checked draws are used instead."""
    iterations: int = 50
    tolerance: float = 1e-8
    """Largest standardised error of a moment."""
    longest: float = 1.0
    """Maximum Newton step: a change of about one in the log weights."""


@dataclass(frozen=True)
class Modes:
    """Several modes."""

    negligible: float = 10.0
    """log mass below that of the largest one, by Hessians at the modes, from which on a mode is left out:
    5e-5 of it."""
    step: float = 2.0
    """Whitened distance from a mode at which the potential has to be higher in the direction of another. Not varied."""
    hopeless: float = 30.0
    """The same before its curvatures are measured, by what its descent showed of them."""
    starts: int = 4
    """Starts, where they are drawn. Not varied."""
    drawn: int = 20
    """Draws from which they are taken: those where the density is zero are passed over. Not varied."""
    quiet: int = 100
    """Starts in a row that lead to no further mode, from which on no more are drawn where several count: a mode that
    three in a hundred lead to is then missed once in twenty runs. With fewer, the verdict doubts that these are all."""
    further: int = 400
    """Starts that are drawn for that, at most. Not varied."""
    looks: int = 3
    """Further starts, before exact chains begin where one start led to one mode. Not varied, nor are the next two."""
    tries: int = 12
    """Places that are tried for them."""
    spread: float = 2.0
    """How far from the start they are, see `search_nearby`."""


@dataclass(frozen=True)
class Judging:
    """Limits of the verdict."""

    sd_good: float = 0.5
    """sd(U - V) up to which a surrogate is close to the exact potential: weights of its draws have efficiency 0.8."""
    sd_bad: float = 1.5
    """sd(U - V) beyond which corrections rest on a few draws: weights have efficiency 0.1."""
    unseen: float = 3.0 / Modes.quiet
    """Share of starts up to which a mode that they lead to may be missed, where several modes count: 3 over as many as
    led to no further one, by 95%."""
    telling: int = 25
    """Known runs from which on leaving them out tells what a surrogate is off by: as many as it is checked at least."""
    open: float = 0.2
    """Share of the posterior's mass left open: the total variation at a normal U - V whose sd is `sd_good`."""
    wide_open: float = 0.5
    """The same at `sd_bad`."""
    lacking: float = 0.1
    """Part of a mean or variance, in standard deviations, that tails may lack."""
    much_lacking: float = 0.3
    """The same, from which on a surrogate is not used, and a result bad."""
    even: float = 0.995
    """Efficiency of importance weights from which on their tail does not matter."""
    rhat_good: float = 1.01
    """R-hat up to which chains agree (Vehtari et al. 2021)."""
    rhat_bad: float = 1.1
    """R-hat above which chains are of different distributions, and their average has no error (Gelman and Rubin)."""
    few: float = 100.0
    """Effective sample size from which on averages over chains are worth printing, and independent draws whose standard
    errors a surrogate's expectations should have at least."""
    short: float = 0.1
    """The same for the latter, as a part of the draws that were asked for. Not varied."""
    heavy: float = 0.75
    """Tail shape of squares from which on draws do not show their variance. Of samples of 2000 from a funnel, whose
    kurtosis is 24300, 98% have more, of lognormal ones none, none, 5% and 62% at log sds of 0.3, 0.5, 0.75 and 1."""
    surprise: float = 4.0
    """Standard errors between observed and predicted acceptance that are not chance."""
    accepted: float = 0.1
    """Acceptance below which chains hardly move."""
    enough: int = 200
    """Checked draws from which on those without density tell what is behind an edge: as `Correction.telling`."""
    failing: float = 0.1
    """Share of failed evaluations from which on a region may be missing."""
    near_bound: float = 0.1
    """Distance from a bound, in standard deviations, within which draws are at it. Not varied, nor are the next two."""
    piled_up: float = 0.01
    """Share of draws at a bound from which on they pile up there."""
    as_high: float = 2.0
    """Height of the potential at the other bound, above that at this one, up to which mass was missed there."""
    noisy: float = 0.05
    """Standard deviation of noise that is reported, in units of log density: half of `Noise.noisy`."""
    level: float = 0.01
    """Change of the potential over the distance between points, root mean square, below which nothing bounds it."""
    vast: float = 100.0
    """Whitened coordinates and slopes above which a point is not used to find flat directions: rounding of the fourth
    power hides changes as small as the square of `level`."""
    apart_points: float = 0.5
    """Distance between points, in standard deviations by the curvature, from which on they show what is level."""
