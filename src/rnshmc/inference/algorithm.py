"""The algorithm behind `rnshmc.sample`: from starts to draws and expectations, for few exact evaluations.

A Gaussian process learns the potential U = -log density from exact values and gradients. Its mean V, the surrogate, is
cheap, and Markov chains on it propose points: training points first, until U - V is small at new ones, and then points
that correct expectations. Each stage takes a frozen `State` and returns the next one (`_stages`):

    outputs      of a forward model: modes, for which its prior is searched, and surrogates by its emulated outputs, if
                 these are good enough; else
    modes        from each start a descent to a mode, where each gradient is a secant of the Hessian, and probes of the
                 directions not seen yet: they whiten the coordinates. A warp is taken where gradients support it.
    surrogates   for each mode: batches of draws of the surrogate of the time, evaluated and learnt, until further
                 batches no longer pay; exact values beyond its draws, and more training where it misses something;
                 exact values at draws of the final surrogate, which correct it and decide whether it is good enough.
    elsewhere    where none is good enough: descents from other places, in case there is a better mode.
    exact chains where that fails, too: HMC on U. Its states train surrogates in turn, and the first good one takes
                 over. Without gradients the result is that of the last surrogate, and bad.

A run may end after any state (budget, Ctrl-C): `outcome_of` makes a result of each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rnshmc.errors import BudgetSpent, ParameterError, Stopped
from rnshmc.inference.attempt import with_warp, without_unsupported_warp
from rnshmc.inference.checking import partial_result
from rnshmc.inference.emulating import by_outputs, without_outputs
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.fallback import fall_back
from rnshmc.inference.final_checks import with_outlying
from rnshmc.inference.modes import (
    each_mode,
    record_mode,
    refine_modes,
    search_more_starts,
    search_nearby,
    without_a_start,
)
from rnshmc.inference.result.outcome import Outcome, outcome_of
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.bends import Watch
from rnshmc.inference.stages.descent import descend, far_below
from rnshmc.inference.stages.parts import all_images, nearest_image
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.starts import PriorDraws
from rnshmc.inference.stages.walls import find_wall
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.inference.tuning_shared import BATCH, ROUNDS
from rnshmc.types import Array


def run(
    archive: Archive,
    starts: Array,
    *,
    draws: int,
    rng: np.random.Generator,
    further: Array | None = None,
    prior: PriorDraws | None = None,
    coordinates: Whitening | None = None,
    doubts: Sequence[str] = (),
    doubtful: bool = False,
    find_walls: bool = False,
    tuning: Tuning = DEFAULT,
) -> Outcome:
    """Draws and expectations of the posterior of which ``archive`` has the potential and all evaluations.

    ``starts`` are points, (k, d), or one, (d,). If they find several modes, ``further`` ones, (n, d), are used, too.
    Draws of the ``prior`` of a forward model are searched for more modes. In ``coordinates`` the posterior is expected
    to have a scale of one. ``doubts`` are for the verdict; where values and gradient disagreed at the start, which is
    ``doubtful``, the noise of values is measured. With ``find_walls``, the run ends where an undeclared bound is found,
    for the caller to restart in coordinates that have it.

    Raises a `ParameterError` if ``starts`` has a wrong shape, or the potential cannot be evaluated there; a
    `BudgetSpent` or `EvaluationError` if the budget ends, or no evaluation is possible, before there are draws.
    """
    starts = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    if starts.shape[1:] != (archive.dim,) or not len(starts) or not np.isfinite(starts).all():
        raise ParameterError(f"starts: expected finite numbers of shape (k, {archive.dim}), got {starts.shape}")
    state, ended = State(archive, rng, tuning, draws, doubts=tuple(doubts)), None
    stages = _stages(state, starts, further, prior, coordinates, doubtful=doubtful)
    try:
        for state in _until_wall(stages) if find_walls else stages:  # noqa: B007 (the last state is used below)
            pass
        state = with_outlying(state)
    except Stopped as error:
        state, ended = partial_result(state, str(error)), error
    except np.linalg.LinAlgError as error:
        curvature = f"the curvature of the log density could not be determined ({error}): it may be noisy"
        state = partial_result(state, curvature)
    except KeyboardInterrupt:
        state = partial_result(state, "it was interrupted")
    outcome = outcome_of(state)
    if ended is not None and not len(outcome.rows):
        raise _without_draws(ended, state)
    return outcome


def _stages(
    state: State,
    starts: Array,
    further: Array | None,
    prior: PriorDraws | None,
    coordinates: Whitening | None,
    *,
    doubtful: bool,
) -> Iterator[State]:
    """The state after each stage."""
    if state.archive.emulating:
        state = yield from by_outputs(state, starts, prior, coordinates)
        if state.rows is not None:
            return
        coordinates = state.whitening or coordinates
        state, starts = without_outputs(state)
        yield state
    state = yield from _to_modes(state, starts, further, coordinates, doubtful=doubtful)
    state = yield from _surrogates(state)
    if state.rows is None and len(starts) == 1 and (state.affords_chains or not state.archive.has_gradient):
        # Exact chains are long, and without gradients there are none: find out first whether this is the mode.
        yield state
        state = yield from _elsewhere(state, starts[0])
    yield state
    if state.rows is None:
        yield (yield from fall_back(state))


def _to_modes(
    state: State, starts: Array, further: Array | None, coordinates: Whitening | None, *, doubtful: bool
) -> States:
    """Descend from each start to a mode, with its curvatures; in warped coordinates where gradients support a warp."""
    # Warps are of whole densities, and that of an angle may need a part: it is known behind the descent.
    turning = state.archive.coordinates.transform.angles is not None
    watch = Watch(state.archive, state.tuning.bending, idle=len(starts) > 1 or turning)
    for start in starts:
        if state.quiet >= state.tuning.modes.quiet:
            break
        first = state.modes[0].whitening if state.modes else coordinates
        try:
            known = all_images(state.archive, state.modes)
            mode = descend(state.archive, start, state.tuning, first, doubtful=doubtful, known=known, watch=watch)
        except ParameterError as error:
            state = without_a_start(state, error)
            continue
        state = record_mode(state, mode)
        yield state
    if not watch(state.lowest.whitening):
        state = refine_modes(state, watch)
        yield state
        if len(state.modes) > 1 and further is not None:
            state = search_more_starts(state, further)
            yield state
    if watch(state.lowest.whitening) and watch.found is not None:
        state = yield from _settled_there(with_warp(state, watch.found))
        # Far from a mode gradients may support a warp that those near it do not.
        plain = without_unsupported_warp(replace(state, begun=state.whitening))
        if plain.modes != state.modes:
            state = yield from _settled_there(plain)
    return state


def _settled_there(state: State) -> States:
    """In new coordinates, the state itself, and then with the mode that a new descent finds there."""
    yield state
    ended = descend_again(state.archive, state.lowest.whitening, state.tuning)
    mode = settle(state.archive, ended, state.rng, state.tuning)
    state = replace(state, modes=(mode,), whitening=mode.whitening)
    yield state
    return state


def _elsewhere(state: State, start: Array) -> States:
    """Descend from other places around the only start, (d,), and train surrogates if they find a better mode."""
    [mode], state = state.modes, search_nearby(state, start)
    yield state
    below, other = far_below(state.archive), state.modes[0]
    near = nearest_image(state.archive, mode, other.whitening.centre)
    if len(state.modes) == 1 and near.near(other.whitening.centre, other.value, below):
        return state
    return (yield from _surrogates(state))


def _surrogates(state: State) -> States:
    """Surrogates of the modes; the last state has rows if they are good enough."""
    dim, tuning = state.archive.dim, state.tuning
    equations = tuning.fitting.rows_of(dim) if state.archive.has_gradient else 1
    if equations * (dim + 1 + BATCH) > tuning.fitting.most_rows:
        return replace(state, reason=f"{dim} dimensions are too many for the surrogate")
    return (yield from each_mode(state))


def _until_wall(stages: Iterator[State]) -> Iterator[State]:
    """The state after each stage, until an undeclared bound is found among the points of zero density so far."""
    looks, seen = 0, 0
    for state in stages:
        yield state
        archive = state.archive
        done = not state.modes or state.blocks or archive.bend.layers or looks == ROUNDS
        if done or len(archive.zeros()) == seen:
            continue
        if (wall := find_wall(archive, state.lowest)) is not None:
            yield replace(state, wall=wall)
            return
        looks, seen = looks + 1, len(archive.zeros())


def _without_draws(ended: Stopped, state: State) -> Stopped:
    """The error of a run that ended before there are draws."""
    if not isinstance(ended, BudgetSpent):
        return ended
    # A point for each row that is fitted, at a unit each, and one more for its gradient.
    least = (1 + state.archive.has_gradient) * (state.tuning.training.fewest + state.archive.dim)
    return BudgetSpent(
        f"{ended}, before there are draws: a surrogate needs at least {least} units here. With filepath=, evaluations "
        "are kept, and a call with a larger budget uses them"
    )
