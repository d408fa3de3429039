"""Modes and surrogates of a forward model's posterior by its emulated outputs."""

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rnshmc.errors import BudgetSpent, FitError, ParameterError
from rnshmc.inference.modes import each_mode, without_a_start, without_negligible_modes
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.emulation import seek
from rnshmc.inference.stages.parts import all_images
from rnshmc.inference.stages.starts import PriorDraws
from rnshmc.inference.stages.survey import share_elsewhere, survey
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.outputs import roughest
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_shared import ROUNDS
from rnshmc.types import Array


def by_outputs(state: State, starts: Array, prior: PriorDraws | None, coordinates: Whitening | None) -> States:
    """Modes and surrogates by the emulated outputs of a forward model; the last state has rows if they are good."""
    # Given runs replace starts: the search begins at the best one, whatever the start is.
    served = state.archive.has_enough_runs(state.tuning.training.fewest)
    try:
        state = yield from _sought(state, starts[:1] if served else starts, coordinates)
        if prior is not None:
            state, found = yield from _surveyed(state, prior)
            state = yield from _sought(state, found, coordinates)
    except FitError as error:
        state = replace(state, reason=str(error))
        yield state
        return state
    state = without_negligible_modes(replace(state, early=len(state.archive.zeros(failed=True))))
    yield state
    state = yield from each_mode(state)
    if prior is not None and state.surveyed:
        state = _surveyed_again(state, prior)
    yield state
    return state


def _sought(state: State, starts: Array, coordinates: Whitening | None) -> States:
    """Search for a mode from each start on emulated outputs."""
    for start in starts:
        try:
            mode = seek(state.archive, start, state.tuning, coordinates)
        except ParameterError as error:
            state = without_a_start(state, error)
            continue
        state = replace(state.with_mode(mode), starts=state.starts + 1)
        yield state
    return state


def _surveyed(state: State, prior: PriorDraws) -> Generator[State, None, tuple[State, Array]]:
    """Search the prior on the emulator: the state with the number of runs, and a start for each new mode, (k, d).

    Where the budget ends meanwhile, or there are too few draws, there is none, and what was run teaches the emulator.
    """
    archive, dim = state.archive, state.archive.dim
    modes = np.array([mode.whitening.centre for mode in state.modes])
    if len(prior.points) <= dim:
        return state, np.zeros((0, dim))
    try:
        found = survey(archive, prior, modes, state.rng.spawn(1)[0], state.tuning)
    except (BudgetSpent, FitError, np.linalg.LinAlgError):
        return state, np.zeros((0, dim))
    state = replace(state, surveyed=found.runs, elsewhere=found.elsewhere)
    yield state
    return state, np.array(_new(state, found.minima)).reshape(-1, dim)


def _surveyed_again(state: State, prior: PriorDraws) -> State:
    """The share of the posterior outside of the modes, by an emulator that has learnt all runs since the search.

    A few runs follow where that is not negligible. The search favours errors of the emulator that agree with the data,
    and sees a mirror image that hides behind them: where it did not settle, and found only one mode, an emulator with
    that favour has to rule others out, too. A mode that is found only now is not sampled.
    """
    own, archive = state.tuning.surveying, replace(state.archive, part=None)
    modes = np.array([mode.whitening.centre for mode in state.modes])
    brief = replace(own, first=0, agreeing=1.0, quiet=0, rounds=ROUNDS)
    with suppress(FitError, np.linalg.LinAlgError):
        rng, runs = state.rng.spawn(1)[0], 0
        try:
            found = survey(archive, prior, modes, rng, replace(state.tuning, surveying=brief))
            elsewhere, runs = 1.0 if _new(state, found.minima) else found.elsewhere, found.runs
        except BudgetSpent:
            elsewhere = share_elsewhere(archive, prior, modes, rng, brief)
        if len(modes) == 1 and state.elsewhere > own.left:
            favoured = share_elsewhere(archive, prior, modes, rng, own)
            elsewhere = max(elsewhere, min(state.elsewhere, favoured))
        return replace(state, surveyed=state.surveyed + runs, elsewhere=elsewhere)
    return state


def _new(state: State, minima: Array) -> list[Array]:
    """The minima that are near no known mode."""
    known = all_images(state.archive, state.modes)
    return [place for place in minima if not any(mode.near(place) for mode in known)]


def without_outputs(state: State) -> tuple[State, Array]:
    """A state that learns the density, from the values of the runs so far, and a start for each mode."""
    archive = replace(state.archive, emulating=False)
    known = archive.training()
    starts = known.points[[int(np.argmin(known.values))]]
    if len(state.modes) > 1:
        starts = np.array([mode.whitening.centre for mode in state.modes])
    doubt = f"The outputs of the model are not emulated: {state.reason}"
    if state.trained is not None:
        kernel = state.trained.posterior.kernel
        assert isinstance(kernel, EmulatedPotential)
        output, error = roughest(kernel)
        doubt = f"{doubt}; {output} has the largest emulation error: {error:.2g} times the error of its datum"
    # The emulator stays the latest surrogate, in case the budget ends before there is one of the density.
    state = replace(state.without_surrogate(), archive=archive, doubts=(*state.doubts, f"{doubt}."))
    return replace(state, starts=0, surveyed=0, elsewhere=np.nan, modes=(), method="none"), starts
