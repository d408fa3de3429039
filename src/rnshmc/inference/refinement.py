"""Runs of a forward model at draws of its emulator, which check it and are learnt from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.correcting import corrected_by, cross_fitted
from rnshmc.inference.stages.correction import (
    Checked,
    checked_at,
    draw_surrogate,
    scattered,
    without_random_failures,
)
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.left_out import LeftOut
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.weights import weight_variance
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Refined:
    """A surrogate that is fitted to all runs.

    Attributes
    ----------
    posterior
        The surrogate.
    draws
        Of it in x, (chains, n, d).
    checked
        Draws of the surrogate before, and U - V by that.
    surrogate
        Ingredients of its corrected expectations.
    """

    posterior: SurrogatePosterior
    draws: Array
    checked: Checked
    surrogate: Corrected


def refine(
    archive: Archive, trained: Trained, draws: Array, rng: np.random.Generator, tuning: Tuning, *, aim: float
) -> Iterator[Refined]:
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
    order, checked = scattered(draws, rng), Checked.none(archive.dim)
    sure = trained.variance < tuning.correction.sure
    # Known runs, left out in turn, have told of the surrogate before.
    few = sure or archive.served(tuning.training.fewest)
    if sure and not archive.units_left:
        surrogate = unchecked(archive, trained, draws, rng, tuning, aim=aim)
        yield Refined(trained.posterior, draws, checked, surrogate)
        return
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
        yield Refined(posterior, drawn, checked, surrogate)
        # As many as importance weights alone would take.
        most = max(tuning.training.fewest_checks, int(np.ceil(aim * min(variance, 1.0))))
        if surrogate.open_moments * aim <= tuning.correction.left or len(checked.values) >= most:
            return
        wanted = max(tuning.correction.refining, len(checked.values) // 4)


def unchecked(
    archive: Archive, trained: Trained, draws: Array, rng: np.random.Generator, tuning: Tuning, *, aim: float
) -> Corrected:
    """Ingredients of expectations by a surrogate as it is, with what known runs say of it.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    left_out, none = LeftOut.of(trained.posterior), Checked.none(archive.dim)
    archive.note_error(left_out.error)
    surrogate = corrected_by(
        trained.posterior, draws, none, trained.tails, rng, tuning.process, aim=aim, doubt=left_out.doubt
    )
    return replace(surrogate, left_out=len(left_out.differences))
