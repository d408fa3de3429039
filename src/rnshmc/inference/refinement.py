"""Runs of a forward model at draws of its emulator, which check it and are learnt from."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.correcting import corrected_by, cross_fitted
from rnshmc.inference.result.evidence import log_evidence
from rnshmc.inference.result.state import State
from rnshmc.inference.stages.correction import (
    Checked,
    checked_at,
    draw_surrogate,
    metropolis,
    scattered,
    without_random_failures,
)
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.outputs import LeaveOneOut
from rnshmc.inference.surrogate.posterior import fit_posterior
from rnshmc.inference.surrogate.weights import weight_variance
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


def refine(state: State, trained: Trained, draws: Array) -> Iterator[State]:
    """Evaluate at draws of a surrogate and fit again to all runs, until its moments have the errors of ``aim`` draws.

    By its process, with the variance raised to the leave-one-out residuals, or by as many draws as importance weights
    need without a process. Where the budget has ended before, and the process is sure of the potential,
    known runs are what checks the surrogate, each left out in turn.

    Parameters
    ----------
    draws
        Of the surrogate in x, (chains, n, d).

    Raises
    ------
    BudgetSpent
        When the budget ends, after what it allows.
    FitError
        If no surrogate can be fitted.
    """
    archive, rng, tuning, aim = state.archive, state.rng, state.tuning, state.aim
    order, checked = scattered(draws, rng), Checked.none(archive.dim)
    sure = trained.variance < tuning.correction.sure
    if sure and not archive.units_left:
        surrogate = unchecked(archive, trained, draws, rng, tuning, aim=aim)
        yield _with_checks(replace(state, surrogate=surrogate), trained, draws, checked)
        return
    # Known runs, left out in turn, have judged the surrogate before.
    few = sure or archive.has_enough_runs(tuning.training.fewest)
    positions, wanted = trained.positions, tuning.correction.refining if few else tuning.training.fewest_checks
    while len(checked.values) < len(order):
        points = order[len(checked.values) :][:wanted]
        points = points[: max(1, archive.affordable(points))]
        archive.journal.expected_units = archive.spent.units + len(points)
        checked = checked.joined(checked_at(archive, trained.posterior, points))
        whitening = trained.posterior.whitening
        posterior = fit_posterior(archive.training(), whitening, rng, tuning.fitting)
        drawn = draw_surrogate(posterior, positions, rng, tuning.correction)
        positions = whitening.whiten(drawn[:, -1])
        kept = without_random_failures(checked, draws, tuning.correction)
        surrogate = cross_fitted(posterior, drawn, kept, trained.tails, rng, tuning.process, aim=aim)
        variance = weight_variance(surrogate.differences)
        archive.note_error(float(np.sqrt(variance)))
        latest = replace(trained, posterior=posterior)
        state = replace(state, trained=latest, surrogate=surrogate, surrogate_draws=drawn)
        state = _with_checks(state, trained, draws, checked)
        yield state
        # As many as importance weights alone would take.
        most = max(tuning.training.fewest_checks, int(np.ceil(aim * min(variance, 1.0))))
        if surrogate.open_moments * aim <= tuning.correction.left or len(checked.values) >= most:
            return
        wanted = max(tuning.correction.refining, len(checked.values) // 4)


def _with_checks(state: State, trained: Trained, draws: Array, checked: Checked) -> State:
    """With what follows from exact values at draws of a surrogate, to which another one may have been fitted since."""
    assert state.surrogate is not None
    kept = without_random_failures(checked, draws, state.tuning.correction)
    passed_over, expected = len(checked.values) - len(kept.values), state.surrogate.paths.expected_variance
    child = state.rng.spawn(1)[0]
    evidence = log_evidence(trained.posterior, draws, kept.differences, trained.tails, child, expected=expected)
    exact = metropolis(kept, state.rng, state.tuning.correction)
    return replace(state, checked=kept, passed_over=passed_over, log_evidence=evidence, exact=exact)


def unchecked(
    archive: Archive, trained: Trained, draws: Array, rng: np.random.Generator, tuning: Tuning, *, aim: float
) -> Corrected:
    """Ingredients of expectations by a surrogate as it is, with what known runs say of it.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    left_out, none = LeaveOneOut.of(trained.posterior), Checked.none(archive.dim)
    archive.note_error(left_out.error)
    surrogate = corrected_by(
        trained.posterior, draws, none, trained.tails, rng, tuning.process, aim=aim, doubt=left_out.doubt
    )
    return replace(surrogate, left_out=len(left_out.differences))
