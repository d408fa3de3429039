"""`rnshmc.sample`: a posterior in one call."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.algorithm import run
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.names import find_names, make_names, make_units
from rnshmc.inference.exact.pools import Pool, Threads, make_workers
from rnshmc.inference.exact.stored_evaluations import StoredEvaluations, chosen, read_known
from rnshmc.inference.exact.target import Gradient, digest_of, make_posterior, model_of, with_arguments
from rnshmc.inference.exact.vectorized import vectorized_worker
from rnshmc.inference.exact.workers import Workers
from rnshmc.inference.final_checks import with_other_ends
from rnshmc.inference.given import check_whole, own_errstate
from rnshmc.inference.progress import Listener, listening
from rnshmc.inference.result.making import make_result
from rnshmc.inference.result.result import Result
from rnshmc.inference.stages.decision import most_known
from rnshmc.inference.stages.start import check_gradient, check_inside, check_own, check_start, first_usable
from rnshmc.inference.stages.starts import (
    Candidates,
    Start,
    drawn_starts,
    further_starts,
    inside,
    make_coordinates,
    make_starts,
    number_of_parameters,
    prior_draws,
    prior_scale,
)
from rnshmc.inference.stages.walls import take_up
from rnshmc.inference.transforms import Bounds, listed, make_transform, with_prior
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream


@own_errstate
def sample(
    target: Any,
    x0: Start = None,
    *,
    gradient: Gradient = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    vectorize: bool = False,
    modes: bool = True,
    draws: int = 2000,
    seed: int = 1,
    scale: npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
    names: Iterable[str] | None = None,
    units: Sequence[str] | Mapping[str, str] | None = None,
    pool: Pool = None,
    time_limit: float | None = None,
    filepath: str | os.PathLike[str] | None = None,
    resume: bool = True,
    evaluations: StoredEvaluations = None,
    budget: int | None = None,
    callback: Listener | None = None,
    progress_bar: bool = True,
) -> Result:
    """Sample a posterior whose density is expensive to evaluate, in few evaluations.

    A surrogate is fitted to exact values and gradients and drives Hamiltonian Monte Carlo. Exact values at some of its
    draws correct expectations, and decide in chains of their own; `Result` has both kinds of draws.

    Parameters
    ----------
    target
        The log density, up to a constant: a function of x, shape (d,), that returns a number, or the pair of the number
        and its gradient, shape (d,). Without a gradient, more evaluations are needed. A function written in JAX is
        differentiated. Or a `Model`, whose outputs are emulated; a `UMBridge`; a potential of this package. An
        exception or NaN is a failed evaluation; the run continues. Impossible points have -inf; one huge negative
        number, far below all others, counts as -inf.
    x0
        Start, shape (d,), or a mapping from names to numbers; or several starts to search for several modes, shape
        (n, d): each mode that they find has a surrogate of its own, and its share of the posterior. After a hundred in
        a row without a new mode, the rest are skipped. A function of a numpy generator that returns one start, shape
        (d,), supplies four. None: the best of four draws from the prior of a `Model`; or four from the box of finite
        bounds, with ``names`` or a sequence of bounds for the number of parameters. If a density has several modes,
        more starts are drawn until a hundred in a row find no new one, there are twenty modes, or half of the budget or
        400 (d + 1) units are spent. Starts that fail are skipped.
    gradient
        Gradient of the log density as a separate function; False: use none.
    args, kwargs
        Further arguments of the log density and of its gradient: ``target(x, *args, **kwargs)``.
    vectorize
        Whether the function takes all points of a batch in one call, as rows, (n, d), and returns n log densities, or
        the pair of these and their gradients, (n, d); that of a `Model` returns outputs (n, ...). A function in JAX is
        differentiated. Points that fail are rows of NaN; an exception fails the whole batch. Not with ``pool`` or
        ``time_limit``.
    modes
        Whether further modes are searched for: those of a `Model` in its prior, on its emulated outputs, if the prior
        can be drawn from; those of a density from further drawn starts.
    draws
        Number of draws in the result. It also sets the precision: expectations aim at the errors of half as many
        independent draws.
    seed
        Seed of all random numbers. The same seed gives the same result, with any pool.
    scale
        Approximate width of the posterior in the parameters of x0: a number, standard deviations, shape (d,), a
        covariance, or draws of the prior, shape (n, d) with n > d. An array of shape (d, d) is always a covariance.
        The first steps have this size. Scales of bounded parameters are translated by the slope of the transform at x0,
        prior draws one by one. Without it, scales are found from x0 and evaluations near it.
    bounds
        For each parameter (low, high) with None for no bound, or one of the words ``"positive"``, ``"unit"``,
        ``"real"`` and ``"angle"``; or a mapping from names to these; or a `scipy.optimize.Bounds`. The target is called
        inside the bounds only. The ends of an ``"angle"``, 0 and 2 pi, or of ``("angle", low, high)`` are one point:
        the target receives it in [low, high), starts elsewhere are moved there by whole periods, and the result has it
        in the period centred at its most probable mode. An undeclared bound near the mode, beyond which the
        log density is -inf, is located by a few values and reported. Bounds and angles of a `Model`'s priors and scales
        need not be repeated.
    names, units
        Names and units of the parameters, in their order in x, for the output. A likelihood's own parameters come last.
        Without names, they are the keys of a `Model`'s prior, in their order, or those of x0.
    pool
        Workers: None for this process, a number of processes, or an object with ``submit`` or ``map``, such as an
        executor of `concurrent.futures` or `mpi4py.futures`, a client of Dask, or a `multiprocessing.Pool`. The target
        is sent to each worker once.
    time_limit
        Seconds after which an evaluation has failed. A process started by this call is then killed; a worker of the
        user's pool gets the next evaluation, and the timed-out one is abandoned.
    filepath
        File to which each evaluation is appended as it arrives. Repeating the call after an interruption gives the
        uninterrupted result; with more draws, it continues from there. It evaluates one stored point again, and refuses
        a file of another target. A target with an attribute ``digest``, a string that changes whenever the log density
        does, is recognised by that, and no point is evaluated again.
    resume
        Whether to use the evaluations in the file. If not, a file with evaluations is refused, never overwritten.
    evaluations
        Evaluations to use: a file of an earlier ``filepath``, an npz file or a mapping with ``points``,
        ``log_densities`` and perhaps ``gradients``. For a `Model`, runs: with ``points``, its own parameters, and
        ``outputs``, (n, m); or a file of an earlier call with any data of the same names and sizes. Of more
        than 256 with gradients, 2400 values or 800 runs, a selection near the mode is used.
    budget
        Units that this call may spend; a value is one unit, a gradient one more; for a `Model`, a run is one, and a
        product with its Jacobian one more. With a budget of 0, the result rests on the given runs. Without a budget, a
        target without gradients is evaluated at no more than 400 (d + 1) points.
    callback
        Called with a `rnshmc.inference.exact.evaluation.Progress` during the run.
    progress_bar
        Whether to show a bar in a terminal or a notebook, and elsewhere a line on standard error every ten seconds.
        Without it, or where lines of level INFO of the logger ``rnshmc`` are shown, that logger gets a line at each
        stage and every ten seconds.

    Returns
    -------
    Result
        Draws, expectations with standard errors, the evaluations spent, and a verdict. After Ctrl-C, or when the budget
        is spent, the partial result.

    Raises
    ------
    ParameterError
        If an argument cannot be used, the target cannot be evaluated at x0, or its gradient is wrong there.
    BudgetSpent
        If the budget ends before there are draws.
    EvaluationError
        If no further evaluation is possible.
    DataError
        If a file cannot be read, or belongs to other parameters.
    StoreError
        If a file cannot be written, or holds evaluations of another target.
    """
    check_whole("draws", draws, 4)
    check_whole("seed", seed, 0)
    switches = {"vectorize": vectorize, "modes": modes, "resume": resume, "progress_bar": progress_bar}
    for name, switch in switches.items():
        if not isinstance(switch, bool | np.bool_):
            raise ParameterError(f"{name}: expected True or False, got {switch!r:.80}")
    if not isinstance(filepath, str | os.PathLike | None):
        raise ParameterError(f"filepath: expected the path of a file, got {filepath!r:.80}")
    if not isinstance(evaluations, str | os.PathLike | Mapping | None):
        raise ParameterError(f"evaluations: expected the path of a file or a mapping, got {evaluations!r:.80}")
    target, gradient = with_arguments(target, gradient, args, kwargs)
    model, bounds = model_of(target), None if bounds is None else listed(bounds)
    own, of_prior = (model.own, model.names) if model else ((), None)
    found = find_names(names, x0, of_prior, own)
    rng = stream(seed, "starts")
    starts = None if x0 is None else make_starts(x0, rng, found)
    dim = number_of_parameters(found, bounds, own) if starts is None else starts.shape[1]
    if names is None and found is not None and len(found) != dim:
        raise ParameterError(f"names: the prior names {', '.join(found)}, but x0 has {dim} entries; give names=")
    chosen_names = make_names(found, dim, own)
    chosen_units = make_units(units, chosen_names)
    posterior = make_posterior(target, gradient, chosen_names)
    declared = make_transform(bounds, chosen_names)
    transform = with_prior(declared, posterior.bounds, posterior.angles, chosen_names)
    forward_posterior = posterior.forward_posterior and replace(posterior.forward_posterior, angles=transform.angles)
    if starts is None:
        starts = drawn_starts(forward_posterior, transform, chosen_names, rng)
    starts = transform.wrapped(starts)
    check_inside(starts, transform, chosen_names)
    prior = prior_draws(forward_posterior, transform, rng) if modes else None
    further = starts[:0]
    if modes and prior is None:
        further = further_starts(x0, forward_posterior, transform, chosen_names, rng)
    if budget is not None:
        check_whole("budget", budget, 0)
    if callback is not None and not callable(callback):
        raise ParameterError(f"callback: expected a function of the progress, got {callback!r}")
    expected = prior_scale(forward_posterior, starts[0]) if scale is None else scale
    coordinates = make_coordinates(expected, starts[0], transform)
    known = read_known(evaluations, chosen_names, forward_posterior, starts[0])
    sloped = gradient is not False and any(one.gradient is not None for one in known)
    most = most_known(dim, "outputs" if forward_posterior else "gradients" if sloped else "values", DEFAULT)
    known = chosen(known, transform, forward_posterior, most=most, height=DEFAULT.fitting.plausible_height(dim))
    if vectorize:
        workers: Workers = vectorized_worker(target, posterior.evaluable, pool, time_limit)
    else:
        workers = make_workers(pool, posterior.evaluable, time_limit=time_limit)
    # The digest of a target does not cover a separate gradient.
    digest = None if callable(gradient) else digest_of(target)
    evaluation_log = None
    if filepath is not None:
        kept = chosen_names if forward_posterior is None else chosen_names[: forward_posterior.inputs]
        outputs = forward_posterior.sizes if forward_posterior else None
        evaluation_log = EvaluationLog(filepath, kept, resume=resume, digest=digest, outputs=outputs)
    threads = Threads()
    potential = Evaluations(
        workers,
        transform,
        use_gradients=gradient is not False,
        evaluation_log=evaluation_log,
        known=known,
        budget=budget,
        forward_posterior=forward_posterior,
        slope_price=posterior.slope_price,
        most_points=DEFAULT.modes.most_points(dim),
        threads=threads,
    )
    with closing(potential), threads.one(), listening(callback, bar=progress_bar) as report:
        potential.confirm()
        # Known runs of a model without derivatives replace starts.
        archive = Archive.of(potential)
        served = not posterior.slope_price and archive.has_enough_runs(DEFAULT.training.fewest)
        archive = replace(archive, emulating=False)
        if x0 is None or callable(x0) or isinstance(x0, Candidates):
            starts = starts[: DEFAULT.modes.starts] if served else first_usable(archive, starts, x0)
            # Other modes of a model are searched for in its prior.
            starts = starts[:1] if x0 is None and forward_posterior is not None else starts
        try:
            first = None if served else check_start(archive, transform.coordinates(starts[0]))
            if forward_posterior is not None and first is not None:
                check_own(forward_posterior, first, starts[0], transform, chosen_names)
            doubts = checked = () if first is None else check_gradient(archive, first, stream(seed, "gradient"))
        except ParameterError:
            potential.disown()
            raise
        given = potential.given
        for _ in range(2 * dim + 1):
            outcome = run(
                Archive.of(potential, transform, given=given, progress=report),
                transform.coordinates(starts),
                draws=draws,
                rng=stream(seed, "inference"),
                further=transform.coordinates(further),
                prior=None if served or prior is None else prior.within(transform),
                coordinates=coordinates,
                doubts=doubts,
                doubtful=bool(checked),
                find_walls=True,
            )
            if outcome.wall is None:
                break
            transform, doubt = take_up(outcome.wall, transform, chosen_names)
            given, doubts = potential.record, (*doubts, doubt)
            starts, further = starts[transform.inside(starts)], further[transform.inside(further)]
            if not len(starts):
                starts = transform.parameters(Archive.of(potential, transform, given=given).lowest.point)[None]
            expected = inside(expected, transform)
            coordinates = make_coordinates(expected, starts[0], transform)
        outcome = with_other_ends(outcome, Archive.of(potential, transform), chosen_names)
        return make_result(outcome, transform, names=chosen_names, units=chosen_units)
