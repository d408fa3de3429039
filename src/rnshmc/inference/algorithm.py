"""From a start to draws and expectations: the algorithm behind `rnshmc.sample`.

    seek       a mode, where a forward model's outputs can be emulated; else
    descend    to a mode, each gradient a secant of the Hessian
    probe      the directions not seen yet: coordinates whitened, d + 1 training points
    train      surrogate, its draws, exact values and gradients there, again
    look out   exact values further out than its draws, and training where it misses something
    check      exact values at draws of the finished surrogate: corrections, exact draws

the last three for each mode where the starts led to several. Where no surrogate is good enough, descents from elsewhere
tell whether there is a better mode, and then adapted HMC goes on, or an ensemble without gradients. States of HMC teach
a surrogate in turn, and the first that is good enough takes over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rnshmc.errors import BudgetSpent, FitError, ParameterError, Stopped
from rnshmc.inference.attempt import attempts, salvaged
from rnshmc.inference.coordinates import gone_over, straightened
from rnshmc.inference.exact.account import Progress
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.fallback import fall_back
from rnshmc.inference.job import Job, suffices
from rnshmc.inference.modes import descended, each_mode, looked_around, settled, sought
from rnshmc.inference.outlying import outlying
from rnshmc.inference.result.findings import Found, outcome_of
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.stages.bends import Watch
from rnshmc.inference.stages.descent import descend, far_below
from rnshmc.inference.stages.emulation import seek
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.walls import find_wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.outputs import roughest
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.types import Array


def run(
    evaluations: Evaluations,
    starts: Array,
    *,
    draws: int,
    rng: np.random.Generator,
    further: Array | None = None,
    coordinates: Whitening | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    doubts: Sequence[str] = (),
    doubtful: bool = False,
    find_walls: bool = False,
    tuning: Tuning = DEFAULT,
) -> Outcome:
    """Draws and expectations of the posterior, for few exact evaluations.

    When the budget is spent, and after Ctrl-C, the outcome holds what the evaluations made so far allow.

    Parameters
    ----------
    evaluations
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
    progress
        Is told of each batch of evaluations.
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
    if starts.shape[1:] != (evaluations.dim,) or not len(starts) or not np.isfinite(starts).all():
        raise ParameterError(f"starts: expected finite numbers of shape (k, {evaluations.dim}), got {starts.shape}")
    if draws < 1:
        raise ParameterError(f"draws: expected at least 1, got {draws}")
    job = Job(Archive(evaluations, progress), rng, tuning, draws)
    found, stopped, ended = Found(), None, None
    further = np.zeros((0, evaluations.dim)) if further is None else further
    stages = _stages(job, starts, further, coordinates, doubtful=doubtful)
    try:
        for found in _until_wall(job, stages) if find_walls else stages:  # noqa: B007 (the last one is what there is)
            pass
        found = _with_outlying(job, found)
    except Stopped as error:
        stopped, ended = str(error), error
    except np.linalg.LinAlgError as error:
        stopped = f"the curvature of the log density could not be found ({error}): it may be noisy"
    except KeyboardInterrupt:
        stopped = "it was interrupted"
    if stopped is not None:
        found = salvaged(job, found)
    outcome = outcome_of(found, job.archive, tuning, draws=draws, stopped=stopped, doubts=tuple(doubts))
    if ended is not None and not len(outcome.rows):
        raise _without_draws(ended, job)
    return outcome


def _without_draws(ended: Stopped, job: Job) -> Stopped:
    """The error of a run that ended before there are draws."""
    if not isinstance(ended, BudgetSpent):
        return ended
    # A point for each row that is fitted, at a unit each, and one more for its gradient.
    least = (1 + job.archive.has_gradient) * (job.tuning.training.fewest + job.archive.dim)
    return BudgetSpent(
        f"{ended}, before there are draws: a surrogate takes {least} units and more here. With filepath=, evaluations "
        "are kept, and a call with a larger budget uses them"
    )


def _with_outlying(job: Job, found: Found) -> Found:
    """With what exact values at stretched draws show. Those of emulated outputs cost a run each, and have none."""
    exact = found.exact if found.rows is not None else found.chains()
    if exact is None or job.archive.emulating:
        return found
    points, potentials = exact.draws.reshape(-1, job.archive.dim), exact.potentials.ravel()
    # Moments are of all draws of a surrogate, of which rows are a part.
    some = found.rows[0] if found.rows is not None else points
    draws = some if found.surrogate_draws is None or found.rows is None else found.surrogate_draws
    draws, tuning, rng = draws.reshape(-1, job.archive.dim), job.tuning.tails, job.rng.spawn(1)[0]
    beyond = outlying(job.archive, draws, (points, potentials), rng, tuning, chains=found.rows is None)
    return replace(found, outlying=beyond)


def _stages(
    job: Job, starts: Array, further: Array, coordinates: Whitening | None, *, doubtful: bool
) -> Iterator[Found]:
    """What is found after each stage."""
    found = Found()
    if job.archive.emulating:
        # Given runs take the place of starts: the search begins at the best one, whatever the start is.
        used = starts[:1] if job.archive.served(job.tuning.training.fewest) else starts
        for tried in _emulated(job, replace(found, starts=len(used)), used, coordinates):
            found = tried
            yield found
        if found.rows is not None:
            return
        # What was run serves as values, and the coordinates of the mode as a start.
        job.archive.emulating = False
        known = job.archive.training()
        one = len(found.modes) == 1 or len(used) < len(starts)
        starts = known.points[[int(np.argmin(known.values))]] if one else starts
        coordinates = found.whitening or coordinates
        # The emulator stays what there is, should the budget end before there is a surrogate of the density.
        doubts = (*found.doubts, *_not_emulated(found))
        found = replace(found.forgetting_the_surrogate(), starts=0, modes=(), method="none", doubts=doubts)
        yield found
    watch = Watch(job.archive, job.tuning.bending, idle=len(starts) > 1)
    for start in starts:
        if found.quiet >= job.tuning.modes.quiet:
            break
        first = found.modes[0].whitening if found.modes else coordinates
        try:
            mode = descend(job.archive, start, job.tuning, first, doubtful=doubtful, known=found.modes, watch=watch)
        except ParameterError as error:
            found = _without_a_start(found, error)
            continue
        found = descended(job, found, mode)
        yield found
    if not watch(found.lowest.whitening):
        found = settled(job, found, watch)
        yield found
        if len(found.modes) > 1:
            found = sought(job, found, further)
            yield found
    if watch(found.lowest.whitening) and watch.found is not None:
        for there in _settled_there(job, gone_over(job, found, watch.found)):
            found = there
            yield found
        # Far from a mode gradients may follow a bend that those near it do not.
        plain = straightened(job, replace(found, begun=found.whitening))
        if plain.modes != found.modes:
            for there in _settled_there(job, plain):
                found = there
                yield found
    for tried in _surrogates(job, found):
        found = tried
        yield found
    if found.rows is None and len(starts) == 1 and suffices(job):
        # Exact chains are long: before they begin it is worth to know whether this is the mode.
        [mode], found = found.modes, looked_around(job, found, starts[0])
        yield found
        below, other = far_below(job.archive, job.tuning), found.modes[0]
        if len(found.modes) > 1 or not mode.near(other.whitening.centre, other.value, below):
            for tried in _surrogates(job, found):
                found = tried
                yield found
    if found.rows is None:
        yield from fall_back(job, found)


def _settled_there(job: Job, found: Found) -> Iterator[Found]:
    """What is found in other coordinates, and then with the mode that a new descent leads to there."""
    yield found
    mode = settle(job.archive, descend_again(job.archive, found.lowest.whitening, job.tuning), job.rng, job.tuning)
    yield replace(found, modes=(mode,), whitening=mode.whitening)


def _without_a_start(found: Found, error: ParameterError) -> Found:
    """With a doubt about a start that cannot be used; the error where it is the first, or the target's own."""
    if not found.modes or str(error).startswith("target:"):
        raise error
    return replace(found, doubts=(*found.doubts, f"A start is not used: {error}."))


def _surrogates(job: Job, found: Found) -> Iterator[Found]:
    """What is found by surrogates of the modes; the last has rows if they are good enough."""
    reason = _no_surrogate(job)
    if reason is not None:
        yield replace(found, reason=reason)
    elif len(found.modes) == 1:
        yield from attempts(job, found)
    else:
        yield from each_mode(job, found)


def _not_emulated(found: Found) -> tuple[str, ...]:
    """Why the outputs of a forward model are not emulated, with the worst of them."""
    if found.trained is None:
        return (f"The outputs of the model are not emulated: {found.reason}.",)
    kernel = found.trained.posterior.kernel
    assert isinstance(kernel, EmulatedPotential)
    output, error = roughest(kernel)
    worst = f"{output} is the hardest, predicted with {error:.2g} times the error of its datum"
    return (f"The outputs of the model are not emulated: {found.reason}; {worst}.",)


def _emulated(job: Job, found: Found, starts: Array, coordinates: Whitening | None) -> Iterator[Found]:
    """What is found by emulated outputs; the last has rows if that is good enough."""
    try:
        for start in starts:
            try:
                mode = seek(job.archive, start, job.tuning, coordinates)
            except ParameterError as error:
                found = replace(_without_a_start(found, error), starts=found.starts - 1)
                continue
            found = found.with_mode(mode)
            yield found
    except FitError as error:
        yield replace(found, reason=str(error))
        return
    found = replace(found, whitening=found.lowest.whitening, early=len(job.archive.zeros(failed=True)))
    if len(found.modes) > 1:
        yield replace(
            found, reason=f"the starts led to {len(found.modes)} different modes, and one emulator serves one"
        )
        return
    yield from attempts(job, found)


def _until_wall(job: Job, stages: Iterator[Found]) -> Iterator[Found]:
    """What is found after each stage, until a wall is: it is looked for as points of zero density arrive."""
    looks, seen = 0, 0
    for found in stages:
        yield found
        done = not found.modes or found.blocks or job.archive.bend.layers or looks == job.tuning.walls.looks
        if done or len(job.archive.zeros()) == seen:
            continue
        if (wall := find_wall(job.archive, found.lowest, job.tuning.walls)) is not None:
            yield replace(found, wall=wall)
            return
        looks, seen = looks + 1, len(job.archive.zeros())


def _no_surrogate(job: Job) -> str | None:
    """Why a surrogate is not even tried; None if it is."""
    dim = job.archive.dim
    rows = (job.tuning.fitting.rows_of(dim) if job.archive.has_gradient else 1) * (
        dim + 1 + job.tuning.training.first_batch
    )
    if rows > job.tuning.fitting.most_rows:
        return f"{dim} dimensions are too many for the surrogate"
    return None
