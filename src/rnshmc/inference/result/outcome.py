"""What a run found, in unconstrained coordinates."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from rnshmc.inference.bend import Bend
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.averages import moments_of_chains
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.state import Method, State
from rnshmc.inference.result.uninformed import flat_directions
from rnshmc.inference.stages.correction import Checked, Exact, largest_rhat
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.learning import SubspaceKernel
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


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
        Whether averages have standard errors: R-hat is not above `Judging.rhat_bad`.
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
    surveyed
        Runs of a forward model in a search over drawn starts for all modes; 0 where there was none.
    gradients
        Whether the target has gradients.
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
    gradients: bool = True
    surveyed: int = 0


def outcome_of(state: State) -> Outcome:
    """The outcome of a run, wherever it ended."""
    archive, tuning = state.archive, state.tuning
    state = replace(state, exact=state.exact and state.exact.whole(archive)).straightened(archive.bend)
    behind = state.mixture or state.surrogate
    surrogate = behind if state.method == "surrogate" else None
    exact = (state.exact if surrogate is not None else state.chains()) or Exact.none(archive.dim)
    rhat = _rhat_behind(state, exact, tuning)
    mixed = not rhat > tuning.judging.rhat_bad
    if surrogate is not None:
        surrogate = surrogate.with_errors(known=mixed)
        mean, variance = surrogate.mean(), surrogate.variance()
    else:
        mean, variance = moments_of_chains(exact.draws, mixed=mixed)
    rows, corrected = _rows(state, exact)
    checks = None if behind is None or not len(behind.checked) else behind
    unchecked = checks is None and surrogate is not None
    error = archive.journal.surrogate_error if unchecked else _sd(checks.differences if checks else np.zeros(0))
    reasons, known = archive.failures
    shares, left = _shares(state, surrogate)
    # Proposals are draws of the surrogate that was checked, which a later one may have replaced.
    of_proposals = _sd(state.checked.differences) if checks is not None and state.checked is not None else error
    return Outcome(
        rows=rows,
        corrected=corrected,
        draws=exact.draws,
        potentials=exact.potentials,
        surrogate=surrogate,
        mean=mean,
        variance=variance,
        log_evidence=UNKNOWN if surrogate is None or not mixed else state.log_evidence,
        method=state.method,
        reason=state.reason,
        spent=archive.spent,
        by_stage=dict(archive.journal.by_stage),
        refused=state.refused,
        surrogate_error=error,
        efficiency=checks.weights.efficiency if checks else np.nan,
        pareto_k=checks.weights.pareto_k if checks else np.nan,
        checked=state.checked,
        training=np.array(archive.journal.training_errors).reshape(-1, 2),
        acceptance=exact.acceptance,
        predicted_acceptance=float(2.0 * ndtr(-of_proposals / np.sqrt(2.0))) if surrogate else np.nan,
        rhat=rhat,
        mixed=mixed,
        starts=state.starts,
        quiet=state.quiet,
        modes=_modes(state.modes, shares, archive.bend),
        left_out=_modes(state.left_out, left, archive.bend),
        uninformed=flat_directions(state.whitening, archive, tuning.judging),
        failures=dict(reasons),
        known=known,
        floored=archive.floored,
        beyond=state.beyond,
        passed_over=state.passed_over,
        outlying=state.outlying,
        gradients=archive.has_gradient,
        surveyed=state.surveyed,
        noise=archive.noise,
        wall=state.wall,
        emulated=_emulated(state),
        learnt=_learnt(state),
        bend=archive.bend,
        doubts=state.doubts,
        stopped=state.stopped,
    )


def _emulated(state: State) -> EmulatedPotential | None:
    """The emulator behind the surrogate in use; of several modes, one of all runs."""
    if state.method == "surrogate" and state.parts and state.archive.emulating and state.rows is not None:
        known = state.archive.training()
        assert known.runs is not None
        return emulate(known, known.runs, Whitening.of_draws(state.rows[0]))
    if state.method != "surrogate" or state.trained is None:
        return None
    kernel = state.trained.posterior.kernel
    return kernel if isinstance(kernel, EmulatedPotential) else None


def _learnt(state: State) -> int | None:
    """Number of directions of the process behind the surrogate in use, where they are not all."""
    used = [one.trained for one in state.parts or (state,) if one.trained is not None]
    kernels = [one.posterior.kernel for one in used if isinstance(one.posterior.kernel, SubspaceKernel)]
    return max(kernel.process.dim for kernel in kernels) if kernels and state.method == "surrogate" else None


def _modes(modes: tuple[Mode, ...], shares: Estimate, bend: Bend) -> tuple[ModeFound, ...]:
    points = (bend.forward(mode.whitening.centre[None])[0] for mode in modes)
    each = (Estimate(*one) for one in zip(shares.value, shares.standard_error, strict=True))
    return tuple(
        ModeFound(point, mode.value, mode.converged, share)
        for point, mode, share in zip(points, modes, each, strict=True)
    )


def _shares(state: State, surrogate: Corrected | Mixture | None) -> tuple[Estimate, Estimate]:
    """Of the modes, and of those left out: these by Hessians, whose errors are not known."""
    known, others = ([mode.log_mass for mode in modes] for modes in (state.modes, state.left_out))
    unknown = np.full(len(known), np.nan)
    shares = surrogate.shares if isinstance(surrogate, Mixture) else Estimate(unknown, unknown)
    return shares, Estimate(np.exp(np.array(others) - max(known, default=0.0)), np.full(len(others), np.nan))


def _rhat_behind(state: State, exact: Exact, tuning: Tuning) -> float:
    """Largest R-hat of the chains whose agreement matters: those of the surrogates where they make the draws."""
    drawn = [
        (one.surrogate_rhat, one.surrogate_draws) for one in state.parts or (state,) if one.surrogate_draws is not None
    ]
    if state.method != "surrogate" or not drawn:
        return largest_rhat(exact.draws)
    most = tuning.correction.rhat_chains
    return max(largest_rhat(draws[:most]) if np.isnan(rhat) else rhat for rhat, draws in drawn)


def _rows(state: State, exact: Exact) -> tuple[Array, bool]:
    """The draws that were asked for, or fewer where the run stopped early, and whether they are the surrogate's."""
    if state.rows is not None and state.method == "surrogate":
        return state.rows
    states = exact.draws.transpose(1, 0, 2).reshape(-1, exact.draws.shape[2])
    return states[: state.draws], False


def _sd(differences: Array) -> float:
    """sd(U - V) over the checked draws of positive density; NaN for fewer than two."""
    finite = differences[np.isfinite(differences)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan
