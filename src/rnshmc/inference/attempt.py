"""One surrogate: trained, checked and drawn from; and what a run that stopped early makes of it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.coordinates import found_bend, straightened, unexplained, with_warp
from rnshmc.inference.refinement import refine, unchecked
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.correcting import corrected_by
from rnshmc.inference.result.evidence import log_evidence
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.correction import (
    Checked,
    check,
    choose,
    draw_surrogate,
    largest_rhat,
    metropolis,
    without_density,
    without_random_failures,
)
from rnshmc.inference.stages.descent import far_below
from rnshmc.inference.stages.differences import measure_noise
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.training import Trained, train
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.uncertainty import Tails
from rnshmc.inference.surrogate.weights import Influence
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


def attempts(state: State) -> States:
    """Train surrogates until one is good enough, which has rows then."""
    own = state.tuning
    state = replace(state, begun=state.whitening)
    for more in reversed(range(own.attempts)):
        begun, known, tuning = state.begun, len(state.archive.training().values), state.tuning
        # A surrogate that diverged distorts the whitening: each attempt starts from the mode's.
        state = yield from attempt(replace(state, whitening=begun), until=_of_no_use)
        state = replace(state, tuning=own)
        yield state
        # Noise is fitted no better by another surrogate.
        if state.rows is not None or state.archive.noise > own.judging.noisy:
            return state
        last = not more or _better_taught(state)
        if last and not state.affords_chains:
            return state
        # Outputs of a model are as smooth far up as elsewhere, and their emulators are fitted to all runs.
        if not state.archive.emulating:
            state = replace(lowered(straightened(state)), refused=True)
            yield state
            now = len(state.archive.training().values)
            # One that was full of known points from the first fit on, and did not help, would be made once more.
            full = now - known < 2 * tuning.training.first_batch
            last = last or (tuning is not own and full and state.begun is begun)
        if last:
            return state
        if not state.archive.emulating:
            state = replace(state, tuning=own.again(known=now))
    return state


def _better_taught(state: State) -> bool:
    """Whether exact chains come before another surrogate: they tell where the posterior is, which the last did not."""
    if (
        state.trained is None
        or state.archive.emulating
        or not state.teachable
        or len(state.modes) > 1
        or not state.affords_chains
    ):
        return False
    return not state.trained.variance < state.tuning.teaching.far


def lowered(state: State) -> State:
    """With the mode found by a new descent, where training found a potential far below the current mode."""
    lowest = _below(state)
    if lowest is None:
        return state
    [mode], tuning = state.modes, state.tuning
    ended = descend_again(state.archive, mode.whitening.moved(lowest), tuning)
    mode = settle(state.archive, ended, state.rng, tuning)
    return replace(state, modes=(mode,), whitening=mode.whitening, begun=mode.whitening)


def _of_no_use(state: State) -> bool:
    """Whether training goes on around a mode that has no mass: even draws are far below it."""
    training = state.trained is not None and not state.trained.good and not state.refused
    return training and not state.archive.emulating and _below(state, 0.5 * state.archive.dim) is not None


def _below(state: State, further: float = 0.0) -> Array | None:
    """The point of the lowest potential, (d,), where that is far below the only mode, and lower still by so much."""
    known, tuning = state.archive.slopes(), state.tuning
    if len(state.modes) > 1 or state.archive.part is not None or not len(known.values):
        return None
    [mode], best = state.modes, int(np.argmin(known.values))
    least = far_below(state.archive, tuning) + further
    return None if known.values[best] > mode.value - least else np.asarray(known.points[best])


def attempt(state: State, until: Callable[[State], bool] = lambda _: False) -> States:
    """Train a surrogate, check it and draw; the last state has rows if it is good enough, and else the reason.

    Where it is wrong, and a bend explains the gradients so far better, training begins anew in bent coordinates.

    Parameters
    ----------
    until
        Whether training is of no use.
    """
    state = state.forgetting_the_surrogate()
    assert state.whitening is not None
    try:
        for trained in train(state.archive, state.whitening, state.rng, state.tuning, aim=state.aim):
            state = replace(state, trained=trained)
            yield state
            if until(state):
                return replace(state, refused=True, reason="training came upon a far lower mode than it began at")
            if unexplained(state, trained):
                better = found_bend(state, trained)
                if better is not None:
                    state = with_warp(state, better)
                    yield state
                    return (yield from attempt(state, until))
                state = replace(state, unbent=len(state.archive.slopes().points))
        measure_noise(state.archive, trained.posterior, state.rng, state.tuning.noise)
        if not trained.good:
            return replace(state, refused=True, reason=_too_far(trained))
        state = yield from checked_surrogate(state, trained)
        if state.surrogate is None or state.method == "none":
            return replace(state, refused=True, reason=f"no surrogate could be fitted: {state.reason}")
        refused = _refused(state, state.surrogate, state.tuning)
        if refused is None:
            return replace(with_rows(state), reason="the surrogate is close to the posterior")
        return replace(state, method="none", refused=True, reason=refused)
    except (FitError, np.linalg.LinAlgError) as error:
        return replace(state, method="none", refused=True, reason=f"no surrogate could be fitted: {error}")


def checked_surrogate(state: State, trained: Trained) -> States:
    """Exact values at draws of a surrogate, and in the end all that they correct; without a method where that fails."""
    posterior, archive, rng, tuning = trained.posterior, state.archive, state.rng, state.tuning
    drawn = draw_surrogate(posterior, trained.positions, rng, tuning.correction)
    state = replace(state, whitening=posterior.whitening, surrogate_draws=drawn)
    try:
        if archive.emulating:
            for tried in refine(state, trained, drawn):
                state = tried
                yield state
            assert state.surrogate_draws is not None
            behind, rhat = _behind(state, posterior, drawn), _rhat(state.surrogate_draws, tuning)
            state = replace(state, surrogate_rhat=rhat, beyond=len(behind))
        else:
            known, early = trained.variance, state.early
            rounds = check(archive, posterior, drawn, rng, tuning, aim=state.aim, variance=known, early=early)
            state = replace(state, surrogate_rhat=_rhat(drawn, tuning))
            # Where the chains are apart, a few tell the next attempt what they fell into.
            apart = state.surrogate_rhat > tuning.judging.rhat_bad
            for checked in islice(rounds, 1) if apart else rounds:
                state = replace(state, checked=checked)
                yield state
            aim, corrects = state.aim, tuning.correction
            chosen = None if apart else choose(archive, posterior, drawn, checked, rng, corrects, aim=aim)
            state = _corrected(state, trained, drawn, checked, chosen)
        return replace(state, method="surrogate")
    except (FitError, np.linalg.LinAlgError) as error:
        return replace(state, method="none", reason=str(error))


def with_rows(state: State) -> State:
    """With as many draws as were asked for."""
    assert state.surrogate is not None
    assert state.whitening is not None
    rows = resampled(state.surrogate, state.whitening, state.draws, state.rng, state.tuning.resampling)
    return replace(state, rows=rows)


def partial_result(state: State, stopped: str) -> State:
    """With draws of the latest surrogate where a run that stopped early has no better ones; no evaluation is made."""
    state = replace(state, stopped=stopped)
    chains, trained = state.chains(), state.trained
    mixed = chains is not None and not largest_rhat(chains.draws) > state.tuning.judging.rhat_bad
    if state.rows is not None or mixed or trained is None:
        return state
    try:
        if state.surrogate is None:
            drawn, checked = state.surrogate_draws, state.checked
            if drawn is None or checked is None:
                brief = replace(state.tuning.correction, doublings=0)
                drawn = draw_surrogate(trained.posterior, trained.positions, state.rng, brief)
                checked, whitening = Checked.none(state.archive.dim), trained.posterior.whitening
                state = replace(state, whitening=whitening, surrogate_draws=drawn, surrogate_rhat=np.nan)
            state = _corrected(state, trained, drawn, checked)
        return with_rows(replace(state, method="surrogate", blocks=()))
    except (FitError, np.linalg.LinAlgError):
        return state


def _corrected(
    state: State,
    trained: Trained,
    drawn: Array,
    checked: Checked,
    chosen: tuple[Influence, Checked] | None = None,
) -> State:
    posterior, process = trained.posterior, state.tuning.process
    kept = without_random_failures(checked, drawn, state.tuning.correction)
    state = replace(state, passed_over=len(checked.values) - len(kept.values))
    if state.passed_over:
        checked, chosen = kept, chosen and (chosen[0], chosen[1].where(np.flatnonzero(~chosen[1].failed)))
    behind = _behind(state, posterior, drawn)
    tails = trained.tails.joined(_excess(behind, len(checked.values)))
    if state.archive.has_enough_runs(state.tuning.training.fewest) and np.isnan(state.archive.journal.surrogate_error):
        surrogate = unchecked(state.archive, trained, drawn, state.rng, state.tuning, aim=state.aim)
    else:
        surrogate = corrected_by(posterior, drawn, checked, tails, state.rng, process, aim=state.aim, chosen=chosen)
    expected, child = surrogate.paths.expected_variance, state.rng.spawn(1)[0]
    evidence = log_evidence(posterior, drawn, checked.differences, tails, child, expected=expected)
    exact = metropolis(checked, state.rng, state.tuning.correction)
    return replace(state, checked=checked, surrogate=surrogate, log_evidence=evidence, exact=exact, beyond=len(behind))


def _behind(state: State, posterior: SurrogatePosterior, drawn: Array) -> Array:
    """Points where the surrogate expects draws and there is no density; failures at random are none of them."""
    tuning, failed = state.tuning.correction, not state.passed_over
    return without_density(state.archive, posterior, drawn, tuning, state.early, failed=failed)


def _excess(behind: Array, checks: int) -> Tails:
    """What a surrogate may have in excess at points without density: the mass of one of so many checked draws."""
    return Tails(behind, np.full(len(behind), 1.0 / max(len(behind) * checks, 1)))


def _refused(state: State, surrogate: Corrected, tuning: Tuning) -> str | None:
    """Why a surrogate that was checked is not used; None if it is."""
    weights, lacking, limits = surrogate.weights, surrogate.lacking, tuning.correction
    if len(surrogate.checked) and (weights.heavy or weights.efficiency < limits.least_efficiency):
        return (
            f"the importance weights of the surrogate's draws are too uneven (efficiency {weights.efficiency:.2f}, "
            f"Pareto k {weights.pareto_k:.2f})"
        )
    if lacking > tuning.judging.much_lacking:
        return f"its tails may lack {lacking:.0%} of the standard deviation of a mean or variance"
    rhat = state.surrogate_rhat
    if rhat > tuning.judging.rhat_bad:
        return f"the surrogate's chains are in different places (R-hat {rhat:.2f})"
    if len(surrogate.checked) > 1 and not surrogate.open_moments <= limits.much_open:
        error = np.sqrt(surrogate.open_moments)
        return f"the surrogate leaves errors of {error:.1g} standard deviations to means or variances"
    return None


def _rhat(drawn: Array, tuning: Tuning) -> float:
    """Of as many of the surrogate's chains as a verdict looks at."""
    return largest_rhat(drawn[: tuning.correction.rhat_chains])


def _too_far(trained: Trained) -> str:
    spread = np.sqrt(trained.variance)
    how = f"relative error of its weights {spread:.2f}" if np.isfinite(spread) else "none of its draws was near"
    return f"the surrogate is too far from the posterior ({how})"
