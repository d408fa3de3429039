"""What a run found, in unconstrained coordinates."""

from dataclasses import dataclass
from typing import Literal

from rnshmc.inference.bend import Bend
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.types import Array

Method = Literal["surrogate", "adapted HMC", "ensemble", "none"]


@dataclass(frozen=True, eq=False)
class ModeFound:
    """A mode that a start led to: where, its potential, whether the descent converged, and its share of the posterior.

    The share is NaN where nothing tells it.
    """

    point: Array
    value: float
    converged: bool
    share: Estimate


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run found, and what a verdict on it rests on.

    Attributes
    ----------
    rows, corrected
        As many draws as were asked for, (draws, d), or fewer if the run stopped early. With ``corrected`` they are
        nearly independent draws of the surrogate, weighted for the corrected means and variances
        (`rnshmc.inference.result.resampling`); else exact ones, and repeated if they come from a surrogate.
    draws, potentials
        Exact MCMC draws, (chains, n, d), and their exact potentials, (chains, n). With the surrogate, each took one
        exact value, and there are as many as were spent on corrections; without it, as many as were asked for.
    surrogate
        Ingredients of corrected expectations; None if the surrogate was not used.
    mean, variance
        Of the coordinates, corrected with the surrogate and averages of the draws without; NaN without draws. Standard
        errors are NaN where chains are of different distributions.
    log_evidence
        log of the integral of exp(-U), with the surrogate; NaN without, the standard error without checked draws, too.
    method, reason
        What made the draws, and why.
    spent, by_stage
        What was spent.
    refused
        Whether a surrogate was trained and is not good enough.
    surrogate_error, efficiency, pareto_k
        sd(U - V) at draws of the surrogate that it was not trained on, efficiency of the importance weights and shape
        of their tail; NaN without a surrogate.
    checked
        Draws of the latest surrogate that was checked, used or not, with exact potentials; None if none was.
    training
        Units spent so far and sd(U - V), a row for each batch of draws of a surrogate, (k, 2).
    acceptance, predicted_acceptance
        Of exact Metropolis steps, and what sd(U - V) predicts for normal differences; NaN without.
    rhat
        Largest rank-normalised split R-hat of the chains behind the draws: those of the surrogate where it was used,
        the exact ones otherwise; NaN where there are too few.
    mixed
        Whether averages have standard errors: R-hat is not above `Judging.apart`.
    starts
        Number of starts that were descended from.
    quiet
        How many since one led to a mode that was not known before.
    modes, left_out
        The different modes that they led to, and those that have next to nothing of the posterior, relative to the
        largest.
    uninformed
        Directions in which the potential hardly curves, rows of unit length in x; (0, d) if there are none.
    failures, known
        Reasons of failed evaluations, each with how often, and the number of all evaluations, of this run and earlier
        ones.
    floored
        Largest log density that stands for zero, and the number of points with such; None where there is none.
    beyond
        Number of points without density where the surrogate in use expects draws.
    passed_over
        Number of draws that failed at random, and are therefore not in ``checked``.
    outlying
        Part of a variance that draws lack far out, by exact values there, in standard deviations of the square of a
        normal variable.
    noise
        Standard deviation of the noise of the potential; 0 where none was seen.
    wall
        A bound that was found and is not yet declared; the run ended there. None if there is none.
    emulated
        Potential by the emulated outputs of a forward model; None where the density was learnt, or evaluated.
    learnt
        Number of directions that the surrogate of the density learns; None where it is all of them, or there is none.
    bend
        Behind which the surrogate, or the exact chains, were; everything here is in coordinates without it.
    doubts
        Sentences on what was doubtful of the target before the run, such as its gradient.
    stopped
        Why the run stopped early; None if it came to its end.
    """

    rows: Array
    corrected: bool
    draws: Array
    potentials: Array
    surrogate: Corrected | Mixture | None
    mean: Estimate
    variance: Estimate
    log_evidence: Estimate
    method: Method
    reason: str
    spent: Spent
    by_stage: dict[str, Spent]
    refused: bool
    surrogate_error: float
    efficiency: float
    pareto_k: float
    checked: Checked | None
    training: Array
    acceptance: float
    predicted_acceptance: float
    rhat: float
    mixed: bool
    starts: int
    quiet: int
    modes: tuple[ModeFound, ...]
    left_out: tuple[ModeFound, ...]
    uninformed: Array
    failures: dict[str, int]
    known: int
    beyond: int
    noise: float
    wall: Wall | None
    emulated: EmulatedPotential | None
    learnt: int | None
    bend: Bend
    doubts: tuple[str, ...]
    stopped: str | None
    # Files of results from before these existed are read, too.
    floored: tuple[float, int] | None = None
    passed_over: int = 0
    outlying: float = 0.0
