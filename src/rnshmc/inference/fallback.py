"""Where no surrogate is good enough: exact chains, or what the budget allows instead.

States of the chains teach surrogates in turn, each by at least twice as many, and the first good one takes over.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.attempt import attempt, checked_surrogate, with_rows
from rnshmc.inference.job import Job, price, suffices, teachable
from rnshmc.inference.result.findings import Found
from rnshmc.inference.result.outcome import Method
from rnshmc.inference.stages import adapted, ensemble
from rnshmc.inference.stages.correction import largest_rhat
from rnshmc.inference.stages.scattered import Around
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

_log = logging.getLogger(__name__)


def fall_back(job: Job, found: Found) -> Iterator[Found]:
    """Exact chains; or, where the budget suffices for none, the surrogate as it is, corrected by what is left."""
    # Exact chains are of the whole density, and so is what corrects a surrogate now.
    job.archive.part = None
    method: Method = "adapted HMC" if job.archive.has_gradient else "ensemble"
    all_draws = price(job, job.draws)
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
    seen, due, tries = tuple[adapted.Block, ...](), 0, 0
    for stretch in _stretches(job, found):
        seen = (*seen, stretch.block)
        if not stretch.warm_up:
            found = replace(found, blocks=(*found.blocks, stretch.block))
            yield found
        states = sum(potentials.shape[1] for _, potentials, _ in seen)
        if states < due or tries == job.tuning.teaching.tries or found.begun is None or not teachable(job):
            continue
        if len(found.modes) == 1 or _mixed(job, seen):
            due, tries = 2 * states, tries + 1
            for tried in _taught(job, found, seen):
                if tried.rows is None:
                    yield tried
                elif not _cut_off(job, tried):
                    yield tried
                    return


def _mixed(job: Job, seen: tuple[adapted.Block, ...]) -> bool:
    """Whether chains that began at several modes are in the same places by now."""
    draws, _ = _settled(job, seen)
    return largest_rhat(draws) < job.tuning.teaching.mixed


def _cut_off(job: Job, found: Found) -> bool:
    """Whether the density is zero at many draws of a surrogate: exact chains know of the edge there."""
    checked = found.checked
    return checked is not None and bool((~np.isfinite(checked.values)).mean() > job.tuning.judging.failing)


def _settled(job: Job, seen: tuple[adapted.Block, ...]) -> tuple[Array, Array]:
    """States of chains without the first ones, (chains, n, d), and their potentials, (chains, n)."""
    draws, potentials = (np.concatenate([block[i] for block in seen], axis=1) for i in range(2))
    first = int(job.tuning.teaching.left_out * draws.shape[1])
    return draws[:, first:], potentials[:, first:]


def _taught(job: Job, found: Found, seen: tuple[adapted.Block, ...]) -> Iterator[Found]:
    """What is found by a surrogate trained on states of exact chains; the last has rows if it is good enough.

    The states are where the posterior is, and whiten the coordinates: their mean may be far from the mode, and their
    covariance from the curvature there. What was evaluated elsewhere before, as along trajectories, is left out.
    """
    archive, own, known = job.archive, job.tuning.teaching, job.archive.training()
    draws, potentials = _settled(job, seen)
    states = draws.reshape(-1, archive.dim)
    # Across chains first, then evenly over time.
    in_order = potentials.T.ravel()
    chosen = np.isin(known.values, in_order[:: max(1, len(in_order) // own.states_of(archive.dim))])
    archive.leave_out(known.points[~chosen])
    tuning = job.tuning.taught(known=int(chosen.sum()))
    try:
        whitening = _whitened_by(states)
        begun = replace(found, modes=(found.lowest,), whitening=whitening, begun=whitening, method="none", blocks=())
        for tried in attempt(replace(job, tuning=tuning), begun):
            # A run that ends here has the chains so far.
            unused = replace(tried, modes=found.modes, method=found.method, blocks=found.blocks)
            yield unused if tried.rows is None else tried
    except np.linalg.LinAlgError:
        _log.info("the chains have not moved far enough for their covariance")
    finally:
        archive.leave_out(known.points[:0])


def _whitened_by(states: Array) -> Whitening:
    """Whitened by the mean and the covariance of states, (n, d)."""
    covariance = np.cov(states.T).reshape(states.shape[1], states.shape[1])
    return Whitening(states.mean(axis=0), np.linalg.cholesky(np.linalg.inv(covariance)))


def _stretches(job: Job, found: Found) -> Iterator[adapted.Stretch]:
    assert found.whitening is not None
    height = job.tuning.fitting.plausible_height(job.archive.dim) + job.tuning.probing.noise * job.archive.noise
    around = Around.modes(found.modes, height)
    if job.archive.has_gradient:
        tuning = job.tuning.adapted
        return adapted.adapted_hmc(job.archive, found.whitening, around, job.rng, tuning, draws=job.draws)
    return ensemble.stretch_moves(job.archive, found.whitening, around, job.rng, job.tuning.ensemble, draws=job.draws)


def _rough(job: Job, found: Found) -> Iterator[Found]:
    """A surrogate that is not good enough, corrected by as many exact values as the budget allows."""
    assert found.trained is not None
    reason = found.reason
    if found.surrogate is None:
        try:
            for checked in checked_surrogate(job, found, found.trained):
                found = replace(checked, reason=reason)
                yield found
        except FitError as error:
            yield replace(found, method="none", reason=f"{reason}; {error}")
            return
    yield with_rows(job, replace(found, method="surrogate", reason=reason))
