"""Attempts at a surrogate: trained, checked and drawn from, in coordinates that a warp may change on the way."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.checking import checked_surrogate, rows_of, why_refused
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.bends import Bent, better_bend, no_bend
from rnshmc.inference.stages.descent import Mode, far_below
from rnshmc.inference.stages.differences import measure_noise
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.training import Trained, train
from rnshmc.inference.tuning_shared import AGAIN, BATCH
from rnshmc.types import Array


def attempts(state: State) -> States:
    """Train surrogates until one is good enough, which has rows then."""
    own = state.tuning
    state = replace(state, begun=state.whitening)
    for more in reversed(range(own.attempts)):
        begun, known, tuning = state.begun, len(state.archive.training().values), state.tuning
        # A surrogate that diverged distorts the whitening: each attempt starts from the mode's.
        state = yield from attempt(replace(state, whitening=begun), until=_without_mass)
        state = replace(state, tuning=own)
        yield state
        # Noise is fitted no better by another surrogate.
        if state.rows is not None or state.archive.noise > own.judging.noisy:
            return state
        # Outputs of a model are as smooth far up as elsewhere, and their emulators are fitted to all runs.
        if state.archive.emulating:
            continue
        last = not more or _chains_first(state)
        if last and not state.affords_chains:
            return state
        state = replace(lowered(without_unsupported_warp(state)), refused=True)
        yield state
        now = len(state.archive.training().values)
        # An attempt that was full of known points and did not help would only be repeated.
        full = now - known < 2 * BATCH
        if last or (tuning is not own and full and state.begun is begun):
            return state
        state = replace(state, tuning=own.again(known=now))
    return state


def attempt(state: State, until: Callable[[State], bool] = lambda _: False) -> States:
    """Train a surrogate, check it and draw; the last state has rows if it is good enough, and else the reason.

    Where it is wrong, and a warp explains the gradients so far better, training begins anew in warped coordinates.
    Training ends early if ``until`` holds.
    """
    state = state.without_surrogate()
    assert state.whitening is not None
    try:
        for trained in train(state.archive, state.whitening, state.rng, state.tuning, aim=state.aim):
            state = replace(state, trained=trained)
            yield state
            if until(state):
                return replace(state, refused=True, reason="training found a mode far below that of its start")
            if unexplained(state, trained):
                whitening, bending = trained.posterior.whitening, state.tuning.bending
                better = better_bend(state.archive, whitening, bending, begun=state.begun, kept=state.kept)
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
        refused = why_refused(state, state.surrogate)
        if refused is None:
            return replace(state, rows=rows_of(state), reason="the surrogate is close to the posterior")
        return replace(state, method="none", refused=True, reason=refused)
    except (FitError, np.linalg.LinAlgError) as error:
        return replace(state, method="none", refused=True, reason=f"no surrogate could be fitted: {error}")


def _too_far(trained: Trained) -> str:
    spread = np.sqrt(trained.variance)
    how = f"relative sd of its importance weights {spread:.2f}" if np.isfinite(spread) else "no draw was close to it"
    return f"the surrogate is too far from the posterior ({how})"


def _chains_first(state: State) -> bool:
    """Whether exact chains come before another surrogate: they find the posterior where the last one did not."""
    if state.trained is None or not state.teachable or len(state.modes) > 1 or not state.affords_chains:
        return False
    return not state.trained.variance < np.expm1(state.tuning.judging.sd_bad**2)


def lowered(state: State) -> State:
    """Replace the mode by that of a new descent, where training found a potential far below it."""
    lowest = _below(state)
    if lowest is None:
        return state
    [mode], tuning = state.modes, state.tuning
    ended = descend_again(state.archive, mode.whitening.moved(lowest), tuning)
    mode = settle(state.archive, ended, state.rng, tuning)
    return replace(state, modes=(mode,), whitening=mode.whitening, begun=mode.whitening)


def _without_mass(state: State) -> bool:
    """Whether training is around a mode without mass: even draws are far below it."""
    assert state.trained is not None
    return not (state.trained.good or state.archive.emulating) and _below(state, 0.5 * state.archive.dim) is not None


def _below(state: State, further: float = 0.0) -> Array | None:
    """The point of the lowest potential, (d,), if that is far below the only mode, and lower still by ``further``."""
    known = state.archive.slopes()
    if len(state.modes) > 1 or state.archive.part is not None or not len(known.values):
        return None
    [mode], best = state.modes, int(np.argmin(known.values))
    least = far_below(state.archive) + further
    return None if known.values[best] > mode.value - least else np.asarray(known.points[best])


def unexplained(state: State, trained: Trained) -> bool:
    """Whether a surrogate is so wrong, or lacks so much, that a warp is searched for."""
    tuning, training, dim = state.tuning.bending, state.tuning.training, state.archive.dim
    # The first good draws are not trusted yet; in many dimensions, where a search is expensive, they show no warp.
    variance = trained.latest if dim > training.cheap else trained.variance
    lacking = dim <= training.cheap and trained.missing > training.usable
    unending = trained.filling > tuning.filling
    wrong = training.usable < variance < np.inf or lacking or unending
    if trained.good or not wrong or state.bends >= tuning.most:
        return False
    # A few more points show no warp either.
    if (dim > training.cheap or unending) and len(state.archive.slopes().points) < AGAIN * state.unbent:
        return False
    # A part of the density is one in straight coordinates.
    return state.archive.part is None


def with_warp(state: State, better: Bent) -> State:
    """The state in the coordinates of a warp, where all points are and nothing is trained yet."""
    # A part of the density is one by quadratics in straight coordinates; what it left out has negligible mass.
    archive = state.archive.seen(better.bend)
    mode = Mode(better.whitening, float(archive.training().values.min()), 0.0)
    state = replace(state.without_surrogate(), archive=archive, trained=None, modes=(mode,))
    bends, whitening = state.bends + 1, better.whitening
    return replace(state, bends=bends, whitening=whitening, begun=whitening, kept=better.kept)


def without_unsupported_warp(state: State) -> State:
    """The state in coordinates without the warp, where the gradients known by now no longer support it."""
    if state.whitening is None or state.begun is None or state.archive.part is not None:
        return state
    height = state.tuning.fitting.plausible_height(state.archive.dim)
    straight = no_bend(
        state.archive, state.whitening, state.tuning.bending, height=height, begun=state.begun, kept=state.kept
    )
    return state if straight is None else with_warp(state, straight)
