"""Several modes: the search for them, a surrogate for each, and their shares of the posterior."""

import logging
from contextlib import suppress
from dataclasses import replace
from functools import reduce

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.attempt import attempts
from rnshmc.inference.checking import rows_of
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture, apportioned
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.correction import Checked, metropolis
from rnshmc.inference.stages.descent import Mode, Watch, descend, far_below, unwatched
from rnshmc.inference.stages.parts import all_images, nearest_image, of_part
from rnshmc.inference.stages.probing import settle
from rnshmc.types import Array

_EXPENSIVE = 10
"""Cost in units of the minimum for one mode, or number of modes, above which a forecast is logged."""
_log = logging.getLogger(__name__)


def refine_modes(state: State, watch: Watch = unwatched) -> State:
    """Determine curvatures of each mode in every direction, in the order of potentials; drop negligible modes.

    A mode from which the potential falls towards another one is dropped, too. ``watch`` may end probing.
    """
    tuning, kept, left = state.tuning.modes, tuple[Mode, ...](), state.left_out
    whole = replace(state.archive, part=None)
    ordered = sorted(state.modes, key=lambda mode: mode.value)
    for k, mode in enumerate(ordered):
        if kept and mode.log_mass < kept[0].log_mass - tuning.hopeless:
            left = (*left, mode)
            continue
        others = (*kept, *ordered[k + 1 :])
        better = settle(of_part(whole, mode, others), mode, state.rng, state.tuning, watch=watch)
        centre, below = better.whitening.centre, far_below(whole)
        near = [nearest_image(whole, one, centre) for one in kept]
        if not any(one.near(centre, better.value, below) or _joined(whole, one, better, tuning.step) for one in near):
            kept = (*kept, better)
    return without_negligible_modes(replace(state, archive=whole, modes=kept, left_out=left))


def without_negligible_modes(state: State) -> State:
    """Drop the modes with a negligible share of the posterior."""
    most, least = max(mode.log_mass for mode in state.modes), state.tuning.modes.negligible
    kept = tuple(mode for mode in state.modes if mode.log_mass >= most - least)
    left = (*state.left_out, *(mode for mode in state.modes if mode not in kept))
    best = min(kept, key=lambda mode: mode.value)
    archive = of_part(state.archive, best, left)
    return replace(state, archive=archive, modes=kept, left_out=left, whitening=best.whitening)


def record_mode(state: State, mode: Mode) -> State:
    """Add the mode that a descent found, and count the descents since the last new mode that may matter."""
    wider = state.with_mode(mode, far_below(state.archive))
    new = len(wider.modes) > len(state.modes)
    least = max((known.log_mass for known in state.modes), default=-np.inf) - state.tuning.modes.hopeless
    # A descent that ended before a mode is no evidence.
    quiet = 0 if new and mode.log_mass >= least else state.quiet + int(mode.converged)
    # Points without density that were found while a surrogate was trained are not early ones.
    early = len(state.archive.zeros(failed=True)) if state.trained is None else state.early
    return replace(wider, starts=state.starts + 1, quiet=quiet, early=early)


def without_a_start(state: State, error: ParameterError) -> State:
    """Add a doubt about a start that cannot be used; raise the error if it is the first, or the target's own."""
    if not state.modes or str(error).startswith("target:"):
        raise error
    return replace(state, doubts=(*state.doubts, f"A start is not used: {error}."))


def search_more_starts(state: State, further: Array) -> State:
    """Descend from further starts, (n, d), until `Modes.quiet` in a row find no new mode.

    The number of starts that find a mode does not show its share: a narrow one among wide ones is found by the fewest.
    The search ends without that at `Modes.most` modes, after half of the remaining budget, or after
    `Modes.most_points`. Starts of zero density are skipped.
    """
    archive, own, first = state.archive, state.tuning.modes, state
    before, least = archive.evaluations.requested, archive.units_left // 2
    price = 1 + archive.has_gradient
    most, reported = own.most_points(archive.dim) // price, _EXPENSIVE * (state.tuning.training.fewest + archive.dim)
    for number, start in enumerate(further):
        points = archive.evaluations.requested - before
        if state.quiet >= own.quiet or archive.units_left < least:
            break
        if points >= most or len(state.modes) >= own.most:
            text = f"The search for modes ended after {number} further starts"
            text = f"{text}, before {own.quiet} in a row found no new one."
            state = replace(state, doubts=(*state.doubts, text))
            break
        if points > reported:
            reported, ahead = most, min(price * (own.quiet - state.quiet) * points // number, price * (most - points))
            _log.warning("%d modes so far: the search for more takes about %d further units", len(state.modes), ahead)
        known = all_images(state.archive, (*state.modes, *state.left_out))
        with suppress(ParameterError):
            mode = descend(state.archive, start, state.tuning, state.modes[0].whitening, known=known)
            state = _record_settled(state, mode)
    return refine_modes(state) if state.modes != first.modes else state


def _record_settled(state: State, mode: Mode) -> State:
    """Add the mode of a further start; a new one is settled first, for one that is too wide would end later descents.

    Of 36 normal densities on a lattice, four standard deviations apart, searches found 27 to 35 without this, and 28 to
    36 with it.
    """
    wider = record_mode(state, mode)
    least = max(known.log_mass for known in state.modes) - state.tuning.modes.hopeless
    if wider.modes == state.modes or mode.log_mass < least:
        return wider
    archive = of_part(state.archive, mode, state.modes)
    return record_mode(state, settle(archive, mode, state.rng, state.tuning))


def search_nearby(state: State, start: Array) -> State:
    """Descend from other places around the only start, (d,), in coordinates without a warp.

    In each coordinate they are at most `Modes.spread` times as far from it as the larger of its distances from zero and
    from the mode. Places of zero density are replaced.
    """
    [mode], tuning, bend = state.modes, state.tuning.modes, state.archive.bend
    known = all_images(state.archive, state.modes)
    sizes = np.maximum(np.abs(start), np.abs(bend.forward(mode.whitening.centre[None])[0] - start))
    for _ in range(tuning.tries):
        shift = tuning.spread * state.rng.uniform(-1.0, 1.0, len(start)) * sizes
        try:
            other = descend(
                state.archive, bend.inverse((start + shift)[None])[0], state.tuning, mode.whitening, known=known
            )
        except ParameterError:
            continue
        state = record_mode(state, other)
        if state.starts > tuning.looks:
            break
    return refine_modes(state) if state.modes != (mode,) else state


def each_mode(state: State) -> States:
    """Surrogates of all modes; the last state has rows if each is good enough."""
    if len(state.modes) == 1:
        return (yield from attempts(state))
    parts, before = list[State](), state.archive.spent.units
    for mode in state.modes:
        if len(parts) == 1 and len(state.modes) > _EXPENSIVE:
            ahead = (len(state.modes) - 1) * (state.archive.spent.units - before)
            _log.warning("Surrogates of the other %d modes take about %d further units", len(state.modes) - 1, ahead)
        archive = of_part(state.archive, mode, _others(state, mode))
        part = yield from attempts(replace(state, archive=archive, whitening=mode.whitening))
        if part.rows is None:
            return part
        parts.append(part)
    return combined(replace(state, archive=replace(state.archive, part=None)), tuple(parts))


def combined(state: State, parts: tuple[State, ...]) -> State:
    """Combine the results of all modes by the integrals of the density over each."""
    surrogates = tuple(part.surrogate for part in parts if part.surrogate is not None)
    evidences = Estimate.stacked([part.log_evidence for part in parts])
    if not np.isfinite(evidences.standard_error).all():
        return replace(state, refused=True, reason=f"the shares of {len(parts)} modes could not be found")
    mixture = Mixture(surrogates, evidences)
    shares = mixture.shares.value
    checked, counts = _proportional(state, parts, shares), apportioned(shares, state.draws)
    rows = [rows_of(replace(part, draws=int(count))) for part, count in zip(parts, counts, strict=True)]
    return replace(
        state,
        parts=parts,
        beyond=sum(part.beyond for part in parts),
        passed_over=sum(part.passed_over for part in parts),
        method="surrogate",
        reason="surrogates are close to the posterior around each mode",
        mixture=mixture,
        log_evidence=mixture.log_evidence,
        checked=checked,
        exact=metropolis(checked, state.rng, state.tuning.correction),
        rows=(state.rng.permutation(np.concatenate([some for some, _ in rows])), any(by for _, by in rows)),
    )


def _joined(archive: Archive, known: Mode, other: Mode, length: float) -> bool:
    """Whether the potential falls from the higher of two modes towards the other, at a distance of draws."""
    lower, higher = sorted((known, other), key=lambda mode: mode.value)
    way = lower.whitening.centre - higher.whitening.centre
    step = length * way / higher.whitening.length(way)
    [found] = archive.evaluate((higher.whitening.centre + step)[None], "mode", gradient=False)
    return bool(found.value < higher.value)


def _others(state: State, mode: Mode) -> tuple[Mode, ...]:
    return tuple(other for other in (*state.modes, *state.left_out) if other is not mode)


def _proportional(state: State, parts: tuple[State, ...], shares: Array) -> Checked:
    """Checked draws of all modes in random order, in proportion to their shares, as draws of the mixture.

    Differences are those of the pair (x, mode): the sum of its densities over the modes is the posterior.
    """
    chosen, rng = [], state.rng
    counts = np.array([0 if part.checked is None else len(part.checked.values) for part in parts])
    most = (shares * (counts / shares).min()).astype(int)
    for mode, part, count in zip(state.modes, parts, most, strict=True):
        assert part.checked is not None
        assert part.surrogate is not None
        one = part.checked.where(rng.permutation(len(part.checked.values))[:count])
        whole = of_part(state.archive, mode, _others(state, mode)).whole(one.points, one.values)
        chosen.append(replace(one, values=whole, differences=one.differences + part.surrogate.weights.log_mean))
    every = reduce(Checked.joined, chosen)
    return every.where(rng.permutation(len(every.values)))
