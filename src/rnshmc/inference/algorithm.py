"""From a start to draws and expectations: the algorithm behind `rnshmc.sample`.

    seek       a mode, where a forward model's outputs can be emulated; else
    descend    to a mode, each gradient a secant of the Hessian
    probe      the directions not seen yet: coordinates whitened, d + 1 training points
    train      surrogate, its draws, exact values and gradients there, again
    look out   exact values further out than its draws, and training where it misses something
    check      exact values at draws of the finished surrogate: corrections, exact draws

the last three for each mode where the starts led to several. Where no surrogate is good enough, descents from elsewhere
tell whether there is a better mode, and then adapted HMC continues. Its states teach a surrogate in turn, and the first
that is good enough takes over. Without gradients the result is that of the last surrogate, and bad.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rnshmc.errors import BudgetSpent, FitError, ParameterError, Stopped
from rnshmc.inference.attempt import attempts, partial_result
from rnshmc.inference.coordinates import straightened, with_warp
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.fallback import fall_back
from rnshmc.inference.modes import counted, descended, each_mode, search_more_starts, search_nearby, settled
from rnshmc.inference.outlying import outlying
from rnshmc.inference.result.outcome import Outcome, outcome_of
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.bends import Watch
from rnshmc.inference.stages.descent import descend, far_below
from rnshmc.inference.stages.emulation import seek, survey
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.walls import find_wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.outputs import roughest
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.types import Array


def run(
    archive: Archive,
    starts: Array,
    *,
    draws: int,
    rng: np.random.Generator,
    further: Array | None = None,
    coordinates: Whitening | None = None,
    doubts: Sequence[str] = (),
    doubtful: bool = False,
    find_walls: bool = False,
    tuning: Tuning = DEFAULT,
) -> Outcome:
    """Draws and expectations of the posterior, for few exact evaluations.

    When the budget is spent, and after Ctrl-C, the outcome holds what the evaluations made so far allow.

    Parameters
    ----------
    archive
        The exact potential, and what is known of it already.
    starts
        Starting points, shape (k, d), or (d,) for one.
    draws
        Number of draws in the outcome. It sets the precision, too: corrected expectations aim at the errors of
        ``draws`` / 2 independent draws.
    rng
        Draws everything.
    further
        Starting points that are used where the others lead to several modes, (n, d); None: there are none.
    coordinates
        Coordinates in which the posterior is thought to have a scale of one; None if nothing is known.
    doubts
        Sentences on what is doubtful of the target, for the verdict.
    doubtful
        Whether values and gradient disagreed at the start: the noise of values is measured then.
    find_walls
        Whether the run ends where an undeclared bound is found, for the caller to start again in coordinates that have
        it.
    tuning
        Every tuned number.

    Raises
    ------
    ParameterError
        If ``starts`` has a wrong shape, ``draws`` is less than 1, or the potential cannot be evaluated at the start.
    BudgetSpent
        If the budget ends before there are draws.
    EvaluationError
        If nothing can be evaluated any more, and there are no draws yet.
    """
    starts = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    if starts.shape[1:] != (archive.dim,) or not len(starts) or not np.isfinite(starts).all():
        raise ParameterError(f"starts: expected finite numbers of shape (k, {archive.dim}), got {starts.shape}")
    if draws < 1:
        raise ParameterError(f"draws: expected at least 1, got {draws}")
    state, ended = State(archive, rng, tuning, draws, doubts=tuple(doubts)), None
    stages = _stages(state, starts, further, coordinates, doubtful=doubtful)
    try:
        for state in _until_wall(stages) if find_walls else stages:  # noqa: B007 (the last one is what there is)
            pass
        state = _with_outlying(state)
    except Stopped as error:
        state, ended = partial_result(state, str(error)), error
    except np.linalg.LinAlgError as error:
        curvature = f"the curvature of the log density could not be found ({error}): it may be noisy"
        state = partial_result(state, curvature)
    except KeyboardInterrupt:
        state = partial_result(state, "it was interrupted")
    outcome = outcome_of(state)
    if ended is not None and not len(outcome.rows):
        raise _without_draws(ended, state)
    return outcome


def _without_draws(ended: Stopped, state: State) -> Stopped:
    """The error of a run that ended before there are draws."""
    if not isinstance(ended, BudgetSpent):
        return ended
    # A point for each row that is fitted, at a unit each, and one more for its gradient.
    least = (1 + state.archive.has_gradient) * (state.tuning.training.fewest + state.archive.dim)
    return BudgetSpent(
        f"{ended}, before there are draws: a surrogate takes {least} units and more here. With filepath=, evaluations "
        "are kept, and a call with a larger budget uses them"
    )


def _with_outlying(state: State) -> State:
    """With what exact values at stretched draws show. Those of emulated outputs cost a run each, and have none."""
    archive, chains = state.archive, state.rows is None
    exact = state.chains() if chains else state.exact
    if exact is None or archive.emulating:
        return state
    points, potentials = exact.draws.reshape(-1, archive.dim), exact.potentials.ravel()
    # Moments are of all draws of a surrogate, of which rows are a part.
    some = points if state.rows is None else state.rows[0]
    draws = some if state.surrogate_draws is None or chains else state.surrogate_draws
    draws, tuning, rng = draws.reshape(-1, archive.dim), state.tuning.tails, state.rng.spawn(1)[0]
    return replace(state, outlying=outlying(archive, draws, (points, potentials), rng, tuning, chains=chains))


def _stages(
    state: State, starts: Array, further: Array | None, coordinates: Whitening | None, *, doubtful: bool
) -> Iterator[State]:
    """The state after each stage."""
    if state.archive.emulating:
        # Given runs take the place of starts: the search begins at the best one, whatever the start is.
        served = state.archive.has_enough_runs(state.tuning.training.fewest)
        used = starts[:1] if served else starts
        if further is not None and len(further) and not served:
            state, used = yield from _surveyed(state, used, further)
        state = yield from _emulated(replace(state, starts=len(used)), used, coordinates)
        yield state
        if state.rows is not None:
            return
        # What was run serves as values, and the coordinates of the mode as a start.
        archive = replace(state.archive, emulating=False)
        known = archive.training()
        starts = known.points[[int(np.argmin(known.values))]]
        if len(state.modes) > 1:
            starts = np.array([mode.whitening.centre for mode in state.modes])
        further = None if state.surveyed else further
        coordinates = state.whitening or coordinates
        # The emulator stays the latest surrogate, should the budget end before there is one of the density.
        doubts = (*state.doubts, *_not_emulated(state))
        state = replace(state.forgetting_the_surrogate(), archive=archive, doubts=doubts)
        state = replace(state, starts=0, modes=(), method="none")
        yield state
    watch = Watch(state.archive, state.tuning.bending, idle=len(starts) > 1)
    for start in starts:
        if state.quiet >= state.tuning.modes.quiet:
            break
        first = state.modes[0].whitening if state.modes else coordinates
        try:
            mode = descend(state.archive, start, state.tuning, first, doubtful=doubtful, known=state.modes, watch=watch)
        except ParameterError as error:
            state = _without_a_start(state, error)
            continue
        state = descended(state, mode)
        yield state
    if not watch(state.lowest.whitening):
        state = settled(state, watch)
        yield state
        if len(state.modes) > 1 and further is not None:
            state = search_more_starts(state, further)
            yield state
    if watch(state.lowest.whitening) and watch.found is not None:
        state = yield from _settled_there(with_warp(state, watch.found))
        # Far from a mode gradients may follow a bend that those near it do not.
        plain = straightened(replace(state, begun=state.whitening))
        if plain.modes != state.modes:
            state = yield from _settled_there(plain)
    state = yield from _surrogates(state)
    if state.rows is None and len(starts) == 1 and (state.affords_chains or not state.archive.has_gradient):
        # Exact chains are long, and without gradients there are none: find out first whether this is the mode.
        yield state
        [mode], state = state.modes, search_nearby(state, starts[0])
        yield state
        below, other = far_below(state.archive, state.tuning), state.modes[0]
        if len(state.modes) > 1 or not mode.near(other.whitening.centre, other.value, below):
            state = yield from _surrogates(state)
    yield state
    if state.rows is None:
        yield (yield from fall_back(state))


def _settled_there(state: State) -> States:
    """In other coordinates, first as it is, and then with the mode that a new descent finds there."""
    yield state
    ended = descend_again(state.archive, state.lowest.whitening, state.tuning)
    mode = settle(state.archive, ended, state.rng, state.tuning)
    state = replace(state, modes=(mode,), whitening=mode.whitening)
    yield state
    return state


def _without_a_start(state: State, error: ParameterError) -> State:
    """With a doubt about a start that cannot be used; the error where it is the first, or the target's own."""
    if not state.modes or str(error).startswith("target:"):
        raise error
    return replace(state, doubts=(*state.doubts, f"A start is not used: {error}."))


def _surrogates(state: State) -> States:
    """Surrogates of the modes; the last state has rows if they are good enough."""
    reason = _no_surrogate(state)
    if reason is not None:
        return replace(state, reason=reason)
    return (yield from attempts(state) if len(state.modes) == 1 else each_mode(state))


def _not_emulated(state: State) -> tuple[str, ...]:
    """Why the outputs of a forward model are not emulated, with the worst of them."""
    if state.trained is None:
        return (f"The outputs of the model are not emulated: {state.reason}.",)
    kernel = state.trained.posterior.kernel
    assert isinstance(kernel, EmulatedPotential)
    output, error = roughest(kernel)
    worst = f"{output} is the hardest, predicted with {error:.2g} times the error of its datum"
    return (f"The outputs of the model are not emulated: {state.reason}; {worst}.",)


def _surveyed(state: State, starts: Array, draws: Array) -> Generator[State, None, tuple[State, Array]]:
    """With the number of runs of a search over drawn starts, and a start for each mode; without, where it fails."""
    try:
        found = survey(state.archive, draws, state.rng.spawn(1)[0], state.tuning)
    except (FitError, np.linalg.LinAlgError):
        return state, starts
    state = replace(state, surveyed=found.runs)
    yield state
    return state, found.minima


def _emulated(state: State, starts: Array, coordinates: Whitening | None) -> States:
    """A surrogate by emulated outputs; the last state has rows if it is good enough."""
    try:
        for start in starts:
            try:
                mode = seek(state.archive, start, state.tuning, coordinates)
            except ParameterError as error:
                state = replace(_without_a_start(state, error), starts=state.starts - 1)
                continue
            state = state.with_mode(mode)
            yield state
    except FitError as error:
        return replace(state, reason=str(error))
    state = counted(replace(state, early=len(state.archive.zeros(failed=True))))
    yield state
    return (yield from attempts(state) if len(state.modes) == 1 else each_mode(state))


def _until_wall(stages: Iterator[State]) -> Iterator[State]:
    """The state after each stage, until a wall is found: it is looked for as points of zero density arrive."""
    looks, seen = 0, 0
    for state in stages:
        yield state
        archive, tuning = state.archive, state.tuning.walls
        done = not state.modes or state.blocks or archive.bend.layers or looks == tuning.looks
        if done or len(archive.zeros()) == seen:
            continue
        if (wall := find_wall(archive, state.lowest, tuning)) is not None:
            yield replace(state, wall=wall)
            return
        looks, seen = looks + 1, len(archive.zeros())


def _no_surrogate(state: State) -> str | None:
    """Why a surrogate is not even tried; None if it is."""
    dim, tuning = state.archive.dim, state.tuning
    rows = tuning.fitting.rows_of(dim) if state.archive.has_gradient else 1
    if rows * (dim + 1 + tuning.training.first_batch) > tuning.fitting.most_rows:
        return f"{dim} dimensions are too many for the surrogate"
    return None
