"""Other coordinates in the course of a run: a bend that explains gradients better is taken, and one taken back."""

from dataclasses import replace

import numpy as np

from rnshmc.inference.result.state import State
from rnshmc.inference.stages.bends import Bent, better_bend, no_bend
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained


def with_warp(state: State, better: Bent) -> State:
    """In the coordinates of a bend, where all points are and nothing is trained yet."""
    # A part of the density is one by quadratics in straight coordinates; what it left out has next to no mass.
    archive = state.archive.seen(better.bend)
    mode = Mode(better.whitening, float(archive.training().values.min()), 0.0)
    state = replace(state.forgetting_the_surrogate(), archive=archive, trained=None, modes=(mode,))
    bends, whitening = state.bends + 1, better.whitening
    return replace(state, bends=bends, whitening=whitening, begun=whitening, kept=better.kept)


def straightened(state: State) -> State:
    """In coordinates without the bend, where the gradients known by now no longer support it."""
    if state.whitening is None or state.begun is None or state.archive.part is not None:
        return state
    height = state.tuning.fitting.plausible_height(state.archive.dim)
    straight = no_bend(
        state.archive, state.whitening, state.tuning.bending, height=height, begun=state.begun, kept=state.kept
    )
    return state if straight is None else with_warp(state, straight)


def unexplained(state: State, trained: Trained) -> bool:
    """Whether a surrogate is so wrong, or lacks so much, that a bend is looked for."""
    tuning, dim = state.tuning.bending, state.archive.dim
    # The first good draws are not believed yet; in many dimensions, where a search is dear, they show no bend.
    variance = trained.latest if dim > tuning.cheap else trained.variance
    lacking = dim <= tuning.cheap and trained.missing > state.tuning.training.missing
    unending = trained.filling > tuning.filling
    wrong = tuning.wrong < variance < np.inf or lacking or unending
    if trained.good or not wrong or state.bends >= tuning.most:
        return False
    # Nor do a few points more.
    if (dim > tuning.cheap or unending) and len(state.archive.slopes().points) < tuning.again * state.unbent:
        return False
    # A part of the density is one in straight coordinates.
    return state.archive.part is None


def found_bend(state: State, trained: Trained) -> Bent | None:
    """The bend that explains all gradients better than the surrogate's coordinates; None if there is none."""
    return better_bend(
        state.archive, trained.posterior.whitening, state.tuning.bending, begun=state.begun, kept=state.kept
    )
