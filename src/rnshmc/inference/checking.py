"""Exact values at draws of a trained surrogate: corrections, exact draws, and whether it is good enough."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.result.corrected import Corrected, corrected_by, cross_fitted
from rnshmc.inference.result.evidence import log_evidence
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.correction import (
    Checked,
    check,
    choose,
    draw_surrogate,
    largest_rhat,
    least_efficiency,
    metropolis,
    scattered,
    with_more,
    without_density,
    without_random_failures,
)
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.outputs import leave_one_out
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.uncertainty import Tails, inflation
from rnshmc.inference.surrogate.weights import Influence, weight_variance
from rnshmc.inference.tuning_result import Judging
from rnshmc.inference.tuning_shared import BAD, TOLERATED
from rnshmc.types import Array


def checked_surrogate(state: State, trained: Trained) -> States:
    """Exact values at draws of a surrogate, and finally all that they correct; without a method where that fails."""
    posterior, archive, rng, tuning = trained.posterior, state.archive, state.rng, state.tuning
    drawn = draw_surrogate(posterior, trained.positions, rng, tuning.correction)
    state = replace(state, whitening=posterior.whitening, surrogate_draws=drawn)
    try:
        if archive.emulating:
            for refined in _refined(state, trained, drawn):
                state = refined
                yield state
            assert state.surrogate_draws is not None
            behind, rhat = _behind(state, posterior, drawn), largest_rhat(state.surrogate_draws)
            state = replace(state, surrogate_rhat=rhat, beyond=len(behind))
        else:
            known, early = trained.variance, state.early
            rounds = check(archive, posterior, drawn, rng, tuning, aim=state.aim, variance=known, early=early)
            state = replace(state, surrogate_rhat=largest_rhat(drawn))
            # Where the chains are apart, a few values show the next attempt the places that they fell into.
            apart = state.surrogate_rhat > tuning.judging.rhat_bad
            for checked in islice(rounds, 1) if apart else rounds:
                state = replace(state, checked=checked)
                yield state
            chosen = None if apart else choose(archive, posterior, drawn, checked, rng, tuning, aim=state.aim)
            state = _corrected(state, trained, drawn, checked, chosen)
        return replace(state, method="surrogate")
    except (FitError, np.linalg.LinAlgError) as error:
        return replace(state, method="none", reason=str(error))


def why_refused(state: State, surrogate: Corrected) -> str | None:
    """The reason not to use a surrogate that was checked; None if it is good enough."""
    weights, judging = surrogate.weights, state.tuning.judging
    if len(surrogate.checked) and (weights.heavy or weights.efficiency < least_efficiency(state.tuning.training)):
        return (
            f"the importance weights of the surrogate's draws are too uneven (efficiency {weights.efficiency:.2f}, "
            f"Pareto k {weights.pareto_k:.2f})"
        )
    if surrogate.lacking > BAD * TOLERATED:
        shift = f"{surrogate.lacking:.0%} of a standard deviation"
        return f"its unexplored tails may shift a mean or variance by {shift}"
    if state.surrogate_rhat > judging.rhat_bad:
        return f"the surrogate's chains are in different places (R-hat {state.surrogate_rhat:.2f})"
    if len(surrogate.checked) > 1 and not surrogate.open_moments <= (BAD * TOLERATED) ** 2:
        error = np.sqrt(surrogate.open_moments)
        return f"the surrogate leaves errors of {error:.1g} standard deviations in means or variances"
    return None


def rows_of(state: State) -> tuple[Array, bool]:
    """The requested number of draws, of a surrogate that was checked, and whether they are the surrogate's."""
    assert state.surrogate is not None
    assert state.whitening is not None
    return resampled(state.surrogate, state.whitening, state.draws, state.rng)


def partial_result(state: State, stopped: str) -> State:
    """The state of a run that stopped early, with draws of its latest surrogate if it has no better ones.

    No evaluation is made.
    """
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
        return replace(state, rows=rows_of(state), method="surrogate", blocks=())
    except (FitError, np.linalg.LinAlgError):
        return state


def _corrected(
    state: State,
    trained: Trained,
    drawn: Array,
    checked: Checked,
    chosen: tuple[Influence, Checked] | None = None,
) -> State:
    """Corrections of a surrogate of the density, and exact draws, by exact values at some of its draws."""
    posterior, process = trained.posterior, state.tuning.process
    kept = without_random_failures(checked, drawn)
    state = replace(state, passed_over=len(checked.values) - len(kept.values))
    if state.passed_over:
        checked, chosen = kept, chosen and (chosen[0], chosen[1].where(np.flatnonzero(~chosen[1].failed)))
    behind = _behind(state, posterior, drawn)
    # A surrogate may have excess mass there: as much as one of the checked draws.
    excess = Tails(behind, np.full(len(behind), 1.0 / max(len(behind) * len(checked.values), 1)))
    tails = trained.tails.joined(excess)
    if state.archive.has_enough_runs(state.tuning.training.fewest) and np.isnan(state.archive.journal.surrogate_error):
        surrogate = _by_known_runs(state, trained, drawn)
    else:
        surrogate = corrected_by(posterior, drawn, checked, tails, state.rng, process, aim=state.aim, chosen=chosen)
    state = replace(state, surrogate=surrogate, beyond=len(behind))
    return _with_exact(state, posterior, drawn, checked, tails)


def _with_exact(state: State, posterior: SurrogatePosterior, drawn: Array, checked: Checked, tails: Tails) -> State:
    """Add evidence and exact draws by checked draws of a surrogate, after which another one may have been fitted."""
    assert state.surrogate is not None
    expected, child = state.surrogate.paths.expected_variance, state.rng.spawn(1)[0]
    evidence = log_evidence(posterior, drawn, checked.differences, tails, child, expected=expected)
    exact = metropolis(checked, state.rng, state.tuning.correction)
    return replace(state, checked=checked, log_evidence=evidence, exact=exact)


def _behind(state: State, posterior: SurrogatePosterior, drawn: Array) -> Array:
    """Points without density where the surrogate expects draws; failures at random are none of them."""
    return without_density(state.archive, posterior, drawn, state.early, failed=not state.passed_over)


def _refined(state: State, trained: Trained, draws: Array) -> Iterator[State]:
    """Run a forward model at draws of its emulator, in x, (chains, n, d), and fit again to all runs.

    This ends when moments have the target errors: by the process, with its variance raised to the leave-one-out
    residuals, or after as many draws as importance weights need without a process. Where the budget has ended before,
    and the process is sure of the potential, known runs check the surrogate, each left out in turn.
    """
    archive, rng, tuning, aim = state.archive, state.rng, state.tuning, state.aim
    order, checked = scattered(draws, rng), Checked.none(archive.dim)
    sure = trained.variance < TOLERATED**2
    if sure and not archive.units_left:
        state = replace(state, surrogate=_by_known_runs(state, trained, draws), passed_over=0)
        yield _with_exact(state, trained.posterior, draws, checked, trained.tails)
        return
    # Known runs, left out in turn, have judged the surrogate before.
    few = sure or archive.has_enough_runs(tuning.training.fewest)
    positions, wanted = trained.positions, tuning.correction.influential if few else Judging.telling
    while len(checked.values) < len(order):
        checked = with_more(archive, trained.posterior, order, checked, wanted)
        whitening = trained.posterior.whitening
        posterior = fit_posterior(archive.training(), whitening, rng, tuning.fitting)
        drawn = draw_surrogate(posterior, positions, rng, tuning.correction)
        positions = whitening.whiten(drawn[:, -1])
        kept = without_random_failures(checked, draws)
        surrogate = cross_fitted(posterior, drawn, kept, trained.tails, rng, tuning.process, aim=aim)
        variance = weight_variance(surrogate.differences)
        archive.note_error(float(np.sqrt(variance)))
        latest, failures = replace(trained, posterior=posterior), len(checked.values) - len(kept.values)
        state = replace(state, trained=latest, surrogate=surrogate, surrogate_draws=drawn, passed_over=failures)
        state = _with_exact(state, trained.posterior, draws, kept, trained.tails)
        yield state
        # As many as importance weights alone would take.
        most = max(Judging.telling, int(np.ceil(aim * min(variance, 1.0))))
        if surrogate.open_moments * aim <= 1.0 or len(checked.values) >= most:
            return
        wanted = max(tuning.correction.influential, len(checked.values) // 4)


def _by_known_runs(state: State, trained: Trained, draws: Array) -> Corrected:
    """Ingredients of expectations by an uncorrected emulator, with errors by known runs, each left out in turn."""
    (_, differences, variances), none = leave_one_out(trained.posterior), Checked.none(state.archive.dim)
    state.archive.note_error(float(np.std(differences, ddof=1)) if len(differences) > 1 else np.nan)
    process, aim, doubt = state.tuning.process, state.aim, inflation(variances, differences)
    surrogate = corrected_by(trained.posterior, draws, none, trained.tails, state.rng, process, aim=aim, doubt=doubt)
    return replace(surrogate, left_out=len(differences))
