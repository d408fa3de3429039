"""Where no surrogate is good enough: exact chains, or what the budget allows instead."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rnshmc.inference.attempt import Job, checked_surrogate, with_rows
from rnshmc.inference.result.findings import Found
from rnshmc.inference.result.outcome import Method
from rnshmc.inference.stages import adapted, ensemble

_log = logging.getLogger(__name__)


def way_on(job: Job, found: Found) -> Iterator[Found]:
    """Exact chains; or, where the budget suffices for none, the surrogate as it is, corrected by what is left."""
    # Exact chains are of the whole density, and so is what corrects a surrogate now.
    job.archive.part = None
    method: Method = "adapted HMC" if job.archive.has_gradient else "ensemble"
    all_draws = _price(job, job.draws)
    if not suffices(job) and found.trained is not None:
        short = f"the budget does not suffice for {method}, which takes about {all_draws} units"
        yield from _rough(job, replace(found, reason=f"{found.reason}, and {short}"))
        return
    _log.warning(
        "No surrogate is used: %s. Going on with %s: about %d evaluation units for %d draws.",
        found.reason,
        method,
        all_draws,
        job.draws,
    )
    job.archive.expected_units = job.archive.spent.units + all_draws
    found = replace(found, method=method)
    for block in _blocks(job, found):
        found = replace(found, blocks=(*found.blocks, block))
        yield found


def suffices(job: Job) -> bool:
    """Whether the budget does for the fewest exact draws that are worth beginning with."""
    return job.archive.units_left >= _price(job, min(job.draws, job.tuning.fewest_draws))


def _price(job: Job, draws: int) -> int:
    """Evaluation units of exact chains."""
    if job.archive.has_gradient:
        return adapted.price(job.archive.dim, draws, job.tuning.adapted)
    return ensemble.price(job.archive.dim, draws, job.tuning.ensemble)


def _blocks(job: Job, found: Found) -> Iterator[adapted.Block]:
    assert found.whitening is not None
    centres = np.array([mode.whitening.centre for mode in found.modes])
    if job.archive.has_gradient:
        tuning = job.tuning.adapted
        return adapted.adapted_hmc(job.archive, found.whitening, centres, job.rng, tuning, draws=job.draws)
    return ensemble.stretch_moves(job.archive, found.whitening, centres, job.rng, job.tuning.ensemble, draws=job.draws)


def _rough(job: Job, found: Found) -> Iterator[Found]:
    """A surrogate that is not good enough, corrected by as many exact values as the budget allows."""
    assert found.trained is not None
    reason = found.reason
    if found.surrogate is None:
        for checked in checked_surrogate(job, found, found.trained):
            found = replace(checked, reason=reason)
            yield found
    yield with_rows(job, replace(found, method="surrogate", reason=reason))
