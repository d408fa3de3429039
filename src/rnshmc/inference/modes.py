"""Several modes: those that count, a surrogate for each, and the share of the posterior that each has."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from scipy.special import logsumexp, softmax

from rnshmc.errors import ParameterError
from rnshmc.inference.attempt import attempts
from rnshmc.inference.job import Job
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.findings import Found
from rnshmc.inference.result.mixture import Mixture, apportioned
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.stages.correction import Checked, metropolis
from rnshmc.inference.stages.descent import Mode, Watch, descend, far_below, unwatched
from rnshmc.inference.stages.probing import settle
from rnshmc.types import Array

STAGE = "mode"


def settled(job: Job, found: Found, watch: Watch = unwatched) -> Found:
    """With curvatures of each mode in every direction, from the lowest potential on, without those that do not count.

    A mode from which the potential falls towards another is none.

    Parameters
    ----------
    watch
        Ends probing as soon as it says so.
    """
    tuning, kept, left = job.tuning.modes, tuple[Mode, ...](), found.left_out
    ordered = sorted(found.modes, key=lambda mode: mode.value)
    for k, mode in enumerate(ordered):
        if kept and mode.log_mass < kept[0].log_mass - tuning.hopeless:
            left = (*left, mode)
            continue
        others = (*kept, *ordered[k + 1 :])
        job.archive.part = Part(mode, others) if others else None
        better = settle(job.archive, mode, job.rng, job.tuning, watch=watch)
        job.archive.part = None
        centre, below = better.whitening.centre, far_below(job.archive, job.tuning)
        if not any(known.near(centre, better.value, below) or _joined(job, known, better) for known in kept):
            kept = (*kept, better)
    most = max(mode.log_mass for mode in kept)
    counted = tuple(mode for mode in kept if mode.log_mass >= most - tuning.negligible)
    left = (*left, *(mode for mode in kept if mode not in counted))
    best = min(counted, key=lambda mode: mode.value)
    if left:
        job.archive.part = Part(best, left)
    return replace(found, modes=counted, left_out=left, whitening=best.whitening)


def descended(job: Job, found: Found, mode: Mode) -> Found:
    """With the mode that one more descent led to, and how many did not lead to another that may count."""
    wider = found.with_mode(mode, far_below(job.archive, job.tuning))
    new = len(wider.modes) > len(found.modes)
    least = max((known.log_mass for known in found.modes), default=-np.inf) - job.tuning.modes.hopeless
    # A descent that ended before a mode tells of none.
    quiet = 0 if new and mode.log_mass >= least else found.quiet + int(mode.converged)
    # Points without density that were found while a surrogate was trained are not early ones.
    early = len(job.archive.zeros(failed=True)) if found.trained is None else found.early
    return replace(wider, starts=found.starts + 1, quiet=quiet, early=early)


def sought(job: Job, found: Found, further: Array) -> Found:
    """With what further starts lead to, until `Modes.quiet` in a row lead to no other mode.

    How many starts lead to a mode does not tell its share: the narrow one among wide ones is reached by the fewest. At
    most half of what is left of a budget is spent on them.

    Parameters
    ----------
    further
        Starts, (n, d). Where the density is zero, none starts.
    """
    least, first = job.archive.units_left // 2, found
    for start in further:
        if found.quiet >= job.tuning.modes.quiet or job.archive.units_left < least:
            break
        known = (*found.modes, *found.left_out)
        with suppress(ParameterError):
            mode = descend(job.archive, start, job.tuning, found.modes[0].whitening, known=known)
            found = descended(job, found, mode)
    return settled(job, found) if found.modes != first.modes else found


def looked_around(job: Job, found: Found, start: Array) -> Found:
    """With what descents from other places lead to, where one start led to one mode.

    They start around the given start, in each coordinate at most `Modes.spread` times as far from it as the larger of
    its own distance from zero and from the mode. Where the density is zero, none starts, and another place is tried.

    Parameters
    ----------
    start
        Shape (d,), in coordinates without a bend.
    """
    [mode], tuning, bend = found.modes, job.tuning.modes, job.archive.bend
    sizes = np.maximum(np.abs(start), np.abs(bend.forward(mode.whitening.centre[None])[0] - start))
    for _ in range(tuning.tries):
        shift = tuning.spread * job.rng.uniform(-1.0, 1.0, len(start)) * sizes
        try:
            other = descend(
                job.archive, bend.inverse((start + shift)[None])[0], job.tuning, mode.whitening, known=found.modes
            )
        except ParameterError:
            continue
        found = descended(job, found, other)
        if found.starts > tuning.looks:
            break
    return settled(job, found) if found.modes != (mode,) else found


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a density that is a mode's: exp(-U) r, where r is the mode's share of normal densities at all modes.

        r_k(x) = exp(-h_k(x)) / sum_j exp(-h_j(x)),  h_j = `Mode.heights`

    The parts of all modes add up to the density, however far they are apart, and the part of a normal mode among normal
    ones is that mode.

    Attributes
    ----------
    mode
        The mode.
    others
        All others.
    """

    mode: Mode
    others: tuple[Mode, ...]

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """-log r at the rows of x, (k,), and its gradients, (k, d)."""
        found = [mode.heights(x) for mode in (self.mode, *self.others)]
        heights, slopes = (np.array([one[i] for one in found]) for i in range(2))
        weights = softmax(-heights, axis=0)
        return heights[0] + logsumexp(-heights, axis=0), slopes[0] - np.einsum("jk,jkd->kd", weights, slopes)


def each_mode(job: Job, found: Found) -> Iterator[Found]:
    """Surrogates of all modes; the last found has rows if each is good enough."""
    parts = []
    for mode in found.modes:
        job.archive.part = _part(found, mode)
        tried = found
        for tried in attempts(job, replace(found, whitening=mode.whitening)):
            yield tried
        if tried.rows is None:
            return
        parts.append(tried)
    job.archive.part = None
    yield combined(job, found, tuple(parts))


def combined(job: Job, found: Found, parts: tuple[Found, ...]) -> Found:
    """What is found of each mode as one, by the integrals of the density over each."""
    surrogates = tuple(part.surrogate for part in parts if part.surrogate is not None)
    evidences = Estimate.stacked([part.log_evidence for part in parts])
    if not np.isfinite(evidences.standard_error).all():
        return replace(found, refused=True, reason=f"the shares of {len(parts)} modes could not be found")
    mixture = Mixture(surrogates, evidences)
    shares = mixture.shares.value
    checked = _proportional(found, parts, shares, job.rng)
    rows = [
        resampled(surrogate, part.whitening, int(count), job.rng, job.tuning.resampling)
        for surrogate, part, count in zip(surrogates, parts, apportioned(shares, job.draws), strict=True)
        if part.whitening is not None
    ]
    return replace(
        found,
        parts=parts,
        beyond=sum(part.beyond for part in parts),
        passed_over=sum(part.passed_over for part in parts),
        method="surrogate",
        reason="surrogates are close to the posterior around each mode",
        mixture=mixture,
        log_evidence=mixture.log_evidence,
        checked=checked,
        exact=metropolis(checked, job.rng, job.tuning.correction),
        rows=(job.rng.permutation(np.concatenate([some for some, _ in rows])), any(by for _, by in rows)),
    )


def _joined(job: Job, known: Mode, other: Mode) -> bool:
    """Whether the potential falls from the higher of two modes towards the other, at a distance of draws."""
    lower, higher = sorted((known, other), key=lambda mode: mode.value)
    way = lower.whitening.centre - higher.whitening.centre
    step = job.tuning.modes.step * way / higher.whitening.length(way)
    [found] = job.archive.evaluate((higher.whitening.centre + step)[None], STAGE, gradient=False)
    return bool(found.value < higher.value)


def _part(found: Found, mode: Mode) -> Part:
    return Part(mode, tuple(other for other in (*found.modes, *found.left_out) if other is not mode))


def _proportional(found: Found, parts: tuple[Found, ...], shares: Array, rng: np.random.Generator) -> Checked:
    """Checked draws of all modes in random order, as many of each as its share asks for, as draws of the mixture.

    Those of the pair (x, mode) are differences: the sum of its densities over the modes is the posterior.
    """
    chosen = []
    counts = np.array([0 if part.checked is None else len(part.checked.values) for part in parts])
    most = (shares * (counts / shares).min()).astype(int)
    for mode, part, count in zip(found.modes, parts, most, strict=True):
        assert part.checked is not None
        assert part.surrogate is not None
        one = part.checked.where(rng.permutation(len(part.checked.values))[:count])
        whole = one.values - _part(found, mode)(one.points)[0]
        chosen.append(replace(one, values=whole, differences=one.differences + part.surrogate.weights.log_mean))
    every = reduce(Checked.joined, chosen)
    return every.where(rng.permutation(len(every.values)))
