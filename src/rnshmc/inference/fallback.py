"""Where no surrogate is good enough: exact chains; without gradients or budget for them, the surrogate nevertheless.

States of the chains train surrogates in turn, each at least twice as many, and the first good one takes over.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rnshmc.inference.attempt import attempt
from rnshmc.inference.checking import checked_surrogate, rows_of
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.adapted import adapted_hmc
from rnshmc.inference.stages.correction import Exact, largest_rhat
from rnshmc.inference.stages.parts import of_part
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_shared import BATCH, FEW, SURPRISE, TOLERATED
from rnshmc.types import Array

WITHOUT_GRADIENTS = "without gradients no other sampler is tried here, but emcee or nautilus may sample this posterior"

_log = logging.getLogger(__name__)


def fall_back(state: State) -> States:
    """Exact chains; without gradients or budget for them, the surrogate, corrected as far as the budget allows."""
    # Exact chains are of the whole density, once around each circle, and so is what corrects a surrogate now.
    alone = len(state.modes) == 1
    archive = of_part(state.archive, state.lowest, ()) if alone else replace(state.archive, part=None)
    state = replace(state, archive=archive)
    all_draws = state.expected_cost(state.draws)
    if not state.archive.has_gradient:
        state = replace(state, reason=f"{state.reason}; {WITHOUT_GRADIENTS}")
        return (yield from _rough(state, state.trained)) if state.trained is not None else state
    if not state.affords_chains and state.trained is not None:
        short = f"the budget is too small for adapted HMC, which takes about {all_draws} units"
        return (yield from _rough(replace(state, reason=f"{state.reason}, and {short}"), state.trained))
    _log.warning(
        "No surrogate is used: %s. Adapted HMC takes over: about %d evaluation units for %d draws.",
        state.reason,
        all_draws,
        state.draws,
    )
    state.archive.journal.expected_units = state.archive.spent.units + all_draws
    state = replace(state, method="adapted HMC")
    seen, due, tries = tuple[Exact, ...](), 0, 0
    for block, warm_up in _exact_chains(state):
        seen = (*seen, block)
        if not warm_up:
            state = replace(state, blocks=(*state.blocks, block))
            yield state
        states = sum(block.potentials.shape[1] for block in seen)
        if states < due or tries == state.tuning.teaching.tries or state.begun is None or not state.teachable:
            continue
        # Chains that began at several modes teach once they have mixed.
        if len(state.modes) == 1 or largest_rhat(_settled(state, seen)[0]) < state.tuning.teaching.mixed:
            due, tries = 2 * states, tries + 1
            trained = yield from _trained_on_chain_states(state, seen)
            if trained.rows is None:
                yield trained
            elif not _cut_off(trained) and not _without_the_mode(trained):
                return trained
    return state


def _cut_off(state: State) -> bool:
    """Whether the density is zero at many draws of a surrogate, where exact chains respect the edge."""
    checked = state.checked
    return checked is not None and bool((~np.isfinite(checked.values)).mean() > TOLERATED)


def _without_the_mode(state: State) -> bool:
    """Whether a surrogate lacks the known mode, which chains outside of a narrow mode do not show.

    Exact values at draws of the normal density there estimate the mass, relative to that of the surrogate:

        E[max(exp(-U) - exp(-V), 0) / q] / Z,  q the normal density of the mode.
    """
    assert state.trained is not None
    mode = state.lowest
    z = state.rng.spawn(1)[0].standard_normal((BATCH, state.archive.dim))
    points = mode.whitening.unwhiten(z)
    if state.archive.affordable(points) < len(points):
        return False
    exact = np.array([one.value for one in state.archive.evaluate(points, "mode", gradient=False)])
    log_mass = mode.log_mass + 0.5 * state.archive.dim * np.log(2.0 * np.pi) - float(state.log_evidence.value)
    with np.errstate(over="ignore"):
        excess = np.maximum(state.trained.posterior.values(points) - exact, 0.0)
    lacking = np.exp(np.minimum(log_mass + mode.heights(points)[0] - exact, 0.0)) * -np.expm1(-excess)
    return bool(lacking.mean() > TOLERATED)


def _settled(state: State, seen: tuple[Exact, ...]) -> tuple[Array, Array]:
    """States of chains without the first ones, (chains, n, d), and their potentials, (chains, n)."""
    chains = Exact.joined(seen)
    first = chains.draws.shape[1] // state.tuning.adapted.left_out
    return chains.draws[:, first:], chains.potentials[:, first:]


def _trained_on_chain_states(state: State, seen: tuple[Exact, ...]) -> States:
    """A surrogate trained on states of exact chains, which has rows if it is good enough.

    They whiten the coordinates: their mean may be far from the mode, and their covariance from the curvature there.
    Points elsewhere, as along trajectories, are left out.
    """
    archive, known = state.archive, state.archive.training()
    draws, potentials = _settled(state, seen)
    states = draws.reshape(-1, archive.dim)
    # Twice as many as a surrogate needs: across chains first, then evenly over time.
    in_order = potentials.T.ravel()
    chosen = np.isin(known.values, in_order[:: max(1, len(in_order) // (2 * (FEW + archive.dim)))])
    try:
        whitening = Whitening.of_draws(states)
    except np.linalg.LinAlgError:
        _log.info("the chains have not moved far enough to estimate their covariance")
        return state
    tuning, some = state.tuning.trained_on_chain_states(known=int(chosen.sum())), archive.without(known.points[~chosen])
    begun = replace(state, archive=some, tuning=tuning, whitening=whitening, begun=whitening)
    ended = replace((yield from attempt(begun)), archive=archive, tuning=state.tuning)
    if ended.rows is None:
        return replace(ended, method=state.method)
    return replace(ended, modes=(state.lowest,), blocks=())


def _exact_chains(state: State) -> Iterator[tuple[Exact, bool]]:
    assert state.whitening is not None
    height = state.tuning.fitting.plausible_height(state.archive.dim) + SURPRISE * state.archive.noise
    archive, modes, tuning = state.archive, state.modes, state.tuning.adapted
    return adapted_hmc(archive, state.whitening, modes, state.rng, tuning, height=height, draws=state.draws)


def _rough(state: State, trained: Trained) -> States:
    """A surrogate that is not good enough, corrected by exact values as far as the budget allows."""
    if state.surrogate is None:
        reason = state.reason
        state = yield from checked_surrogate(state, trained)
        if state.method == "none":
            return replace(state, reason=f"{reason}; {state.reason}")
    return replace(state, rows=rows_of(state), method="surrogate")
