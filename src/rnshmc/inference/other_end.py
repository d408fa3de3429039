"""The other end of a bounded interval, where draws pile up at one end, as of an angle whose posterior is across 0."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rnshmc.errors import Stopped
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.tuning_result import Judging

STAGE = "other ends"
_log = logging.getLogger(__name__)


def with_other_ends(outcome: Outcome, archive: Archive, names: Sequence[str], limits: Judging) -> Outcome:
    """With a doubt for each parameter whose draws pile up at one of two bounds, if the density at the other is as high.

    Draws pile up at a bound if some are near it, and none near the other one. The exact draw nearest to the bound is
    then reflected about the middle of the interval, and the density evaluated there. A density that ends
    at a bound, such as a half-normal, is next to 0 there.

    Parameters
    ----------
    outcome
        Of a run that came to its end; one that stopped early is returned as it is.
    archive
        The exact potential, in the coordinates of the outcome.
    """
    if outcome.stopped is not None:
        return outcome
    try:
        doubts = tuple(_doubts(outcome, archive, names, limits))
    except Stopped:
        return outcome
    for doubt in doubts:
        _log.warning("%s", doubt)
    more = {stage: spent for stage, spent in archive.journal.by_stage.items() if spent.points}
    by_stage = {**outcome.by_stage, **more}
    return replace(outcome, doubts=(*outcome.doubts, *doubts), spent=archive.spent, by_stage=by_stage)


def _doubts(outcome: Outcome, archive: Archive, names: Sequence[str], limits: Judging) -> Iterator[str]:
    transform, rows = archive.coordinates.transform, outcome.rows
    points, potentials = outcome.draws.reshape(-1, transform.dim), outcome.potentials.ravel()
    if not len(rows) or not len(points):
        return
    theta = transform.parameters(rows)
    for i in np.flatnonzero(np.isfinite(transform.low) & np.isfinite(transform.high)):
        reach = limits.near_bound * theta[:, i].std()
        below, above = theta[:, i] - transform.low[i] < reach, transform.high[i] - theta[:, i] < reach
        if max(below.mean(), above.mean()) < limits.piled_up or (below.any() and above.any()):
            continue
        # Coordinates are logits: the reflection about the middle has the opposite one, and the same Jacobian.
        nearest = int(np.argmin(points[:, i]) if below.any() else np.argmax(points[:, i]))
        reflected = points[nearest].copy()
        reflected[i] *= -1.0
        [found] = archive.evaluate(reflected[None], STAGE, gradient=False)
        if found.value < potentials[nearest] + limits.as_high:
            bounds = transform.low[i], transform.high[i]
            here, there = bounds if below.any() else bounds[::-1]
            yield (
                f"{names[i]}: draws pile up at the bound {here:.6g}, and the density at the other end, {there:.6g}, is "
                "as high, where no draws are. If it is periodic, choose bounds away from the posterior; if not, pass "
                "starts near both bounds (x0)."
            )
