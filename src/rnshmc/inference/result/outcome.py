"""The outcome of a run, in unconstrained coordinates."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.special import ndtr

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Averages, Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.state import Record, State
from rnshmc.inference.stages.correction import Exact, largest_rhat
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.learning import SubspaceKernel
from rnshmc.inference.surrogate.outputs import roughest
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import Judging
from rnshmc.inference.warp import Warp
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class ModeFound:
    """A mode: its place and potential, whether the descent converged, and its share of the posterior (NaN: unknown)."""

    point: Array
    value: float
    converged: bool
    share: Estimate


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome(Record):
    """Draws and estimates of a run in unconstrained coordinates, and the evidence for its verdict.

    Attributes
    ----------
    rows, corrected
        The requested draws, (draws, d), or fewer if the run stopped early. With ``corrected`` they are nearly
        independent draws of the surrogate, weighted for the corrected means and variances; else exact ones, which
        repeat if they come from a surrogate.
    draws, potentials
        Exact MCMC draws, (chains, n, d), and their exact potentials, (chains, n). With the surrogate, there are as many
        as exact values were spent on corrections.
    surrogate
        Ingredients of corrected expectations; None if the surrogate was not used.
    mean, variance
        Of the coordinates: corrected with the surrogate, averages of the draws without; NaN without draws. Standard
        errors are NaN where chains sample different distributions.
    log_evidence
        log of the integral of exp(-U), with the surrogate; else NaN. The standard error is NaN without checked draws.
    method, reason
        The method that made the draws, and why it was used.
    spent, by_stage
        Evaluations, in all and by stage.
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
        Of exact Metropolis steps, and as predicted by sd(U - V) for normal differences; NaN without.
    rhat, mixed
        Largest rank-normalised split R-hat of the chains behind the draws, of the surrogate or exact; NaN where there
        are too few. Whether it is at most `Judging.rhat_bad`, and averages have standard errors.
    starts, quiet, surveyed
        Number of starts, and of those since the last new mode; runs of a forward model in a search over the prior.
    elsewhere
        Largest share of the posterior outside of the modes by that search; NaN without one.
    modes, left_out
        Modes found by the starts, and those among them with a negligible share of the posterior.
    uninformed
        Directions in which the potential hardly curves, rows of unit length in x; (0, d) if there are none.
    failures, known
        Reasons of failed evaluations with their counts; number of all evaluations, of this run and earlier ones.
    floored
        Largest log density that stands for zero, and the number of such points; None without any.
    beyond, passed_over
        Number of points without density where the surrogate in use expects draws; number of draws that failed at
        random, and are therefore not in ``checked``.
    outlying
        Part of a variance that draws lack far out, by exact values there, in standard deviations of the square of a
        normal variable.
    gradients, noise
        Whether the target has gradients; standard deviation of the noise of the potential, 0 where none was seen.
    wall
        An undeclared bound, found by the run, which ended there; None without one.
    emulated
        Potential by the emulated outputs of a forward model; None where the density was learnt, or evaluated, and in
        files.
    roughest
        Name of the output with the largest emulation error, and that error in units of the error of its datum; None
        where no outputs were emulated.
    learnt
        Number of directions that the surrogate of the density learns; None if all of them, or without a surrogate.
    bend
        Warp behind which the surrogate, or the exact chains, were; everything here is in coordinates without it.
    doubts, stopped
        Sentences on doubts about the target, such as an inexact gradient; why the run stopped early, None if not.
    """

    rows: Array
    corrected: bool
    draws: Array
    potentials: Array
    surrogate: Corrected | Mixture | None
    mean: Estimate
    variance: Estimate
    spent: Spent
    by_stage: dict[str, Spent]
    surrogate_error: float
    efficiency: float
    pareto_k: float
    training: Array
    acceptance: float
    predicted_acceptance: float
    rhat: float
    mixed: bool
    modes: tuple[ModeFound, ...]
    left_out: tuple[ModeFound, ...]
    uninformed: Array
    failures: dict[str, int]
    known: int
    noise: float
    emulated: EmulatedPotential | None
    learnt: int | None
    bend: Warp
    # Defaults of fields that earlier files of results lack.
    floored: tuple[float, int] | None = None
    gradients: bool = True
    roughest: tuple[str, float] | None = None


def outcome_of(state: State) -> Outcome:
    """The outcome of a run, wherever it ended."""
    archive, tuning = state.archive, state.tuning
    state = replace(state, exact=state.exact and state.exact.whole(archive)).without_warp(archive.bend)
    behind = state.mixture or state.surrogate
    surrogate = behind if state.method == "surrogate" else None
    exact = (state.exact if surrogate is not None else state.chains()) or Exact.none(archive.dim)
    rhat = _rhat_behind(state, exact)
    mixed = not rhat > tuning.judging.rhat_bad
    surrogate = surrogate and surrogate.with_errors(known=mixed)
    expectations = surrogate or Averages(exact.draws, mixed)
    rows, corrected = _rows(state, exact)
    checks = None if behind is None or not len(behind.checked) else behind
    error = _sd(checks.differences) if checks else archive.journal.surrogate_error if surrogate else np.nan
    reasons, known = archive.failures
    shares, left = _shares(state, surrogate)
    # Proposals are draws of the surrogate that was checked, which a later one may have replaced.
    of_proposals = _sd(state.checked.differences) if checks is not None and state.checked is not None else error
    recorded = {field.name: getattr(state, field.name) for field in fields(Record)}
    emulated = _emulated(state)
    return Outcome(
        **recorded | ({} if surrogate is not None and mixed else {"log_evidence": UNKNOWN}),
        rows=rows,
        corrected=corrected,
        draws=exact.draws,
        potentials=exact.potentials,
        surrogate=surrogate,
        mean=expectations.mean(),
        variance=expectations.variance(),
        spent=archive.spent,
        by_stage=dict(archive.journal.by_stage),
        surrogate_error=error,
        efficiency=checks.weights.efficiency if checks else np.nan,
        pareto_k=checks.weights.pareto_k if checks else np.nan,
        training=np.array(archive.journal.training_errors).reshape(-1, 2),
        acceptance=exact.acceptance,
        predicted_acceptance=float(2.0 * ndtr(-of_proposals / np.sqrt(2.0))) if surrogate else np.nan,
        rhat=rhat,
        mixed=mixed,
        modes=_modes(state.modes, shares, archive.bend),
        left_out=_modes(state.left_out, left, archive.bend),
        uninformed=flat_directions(state.whitening, archive, tuning.judging),
        failures=dict(reasons),
        known=known,
        floored=archive.floored,
        gradients=archive.has_gradient,
        noise=archive.noise,
        emulated=emulated,
        roughest=None if emulated is None else roughest(emulated),
        learnt=_learnt(state),
        bend=archive.bend,
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


def _modes(modes: tuple[Mode, ...], shares: Estimate, bend: Warp) -> tuple[ModeFound, ...]:
    points = (bend.forward(mode.whitening.centre[None])[0] for mode in modes)
    each = zip(points, modes, shares.value, shares.standard_error, strict=True)
    return tuple(ModeFound(point, mode.value, mode.converged, Estimate(*share)) for point, mode, *share in each)


def _shares(state: State, surrogate: Corrected | Mixture | None) -> tuple[Estimate, Estimate]:
    """Of the modes, and of those left out: these by Hessians, whose errors are not known."""
    known, others = ([mode.log_mass for mode in modes] for modes in (state.modes, state.left_out))
    unknown = np.full(len(known), np.nan)
    shares = surrogate.shares if isinstance(surrogate, Mixture) else Estimate(unknown, unknown)
    return shares, Estimate(np.exp(np.array(others) - max(known, default=0.0)), np.full(len(others), np.nan))


def _rhat_behind(state: State, exact: Exact) -> float:
    """Largest R-hat of the chains whose agreement matters: those of the surrogates where they make the draws."""
    drawn = [
        (one.surrogate_rhat, one.surrogate_draws) for one in state.parts or (state,) if one.surrogate_draws is not None
    ]
    if state.method != "surrogate" or not drawn:
        return largest_rhat(exact.draws)
    return max(largest_rhat(draws) if np.isnan(rhat) else rhat for rhat, draws in drawn)


def _rows(state: State, exact: Exact) -> tuple[Array, bool]:
    """The requested draws, or fewer where the run stopped early, and whether they are the surrogate's."""
    if state.rows is not None and state.method == "surrogate":
        return state.rows
    states = exact.draws.transpose(1, 0, 2).reshape(-1, exact.draws.shape[2])
    return states[: state.draws], False


def _sd(differences: Array) -> float:
    """sd(U - V) over the checked draws of positive density; NaN for fewer than two."""
    finite = differences[np.isfinite(differences)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan


def flat_directions(whitening: Whitening | None, archive: Archive, limits: Judging) -> Array:
    """Directions along which the density hardly changes over the distance between the points, rows of unit length.

    Their squared slopes times the variance of the points are negligible, where the points are as far apart as draws
    would be by the curvature. That holds in any units of the parameters.
    """
    known = archive.slopes()
    if whitening is None or len(known.points) <= archive.dim:
        return np.zeros((0, archive.dim))
    z, slopes = whitening.whiten(known.points), whitening.slopes(known.gradients)
    # Further out, squares of slopes leave nothing of the others: rounding of their squares hides `Judging.level`.
    vast = 1.0 / limits.level
    near = (np.abs(z) < vast).all(axis=1) & (np.abs(slopes) < vast).all(axis=1)
    z, slopes = z[near], slopes[near]
    if len(z) <= archive.dim:
        return np.zeros((0, archive.dim))
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(z.T)))
    root = axes * np.sqrt(np.maximum(variances, 0.0))
    changes, turned = np.linalg.eigh((slopes @ root).T @ (slopes @ root) / len(z))
    moves = root @ turned
    apart = np.linalg.norm(moves, axis=0)
    directions = whitening.steps(moves.T).T
    directions /= np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)
    return np.asarray(directions[:, (changes < limits.level**2) & (apart > limits.apart_points)].T)
