"""The three steps of a surrogate sampler: explore, fit, exploit (paper A, Algorithm 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.argument_checks import check_potential, check_settings
from rnshmc.run.chain import Phase, Progress
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.phases import StepRange, check_options, exploit, explore, make_kernel
from rnshmc.run.recipes import recipe
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import FITTED_TO_GRADIENTS, SURROGATES, fit, load
from rnshmc.types import Array, FittedDriver, Potential


@dataclass(frozen=True)
class Chain:
    """A chain with its exploration, which is its warm-up."""

    exploration: Phase
    surrogate: FittedDriver | None
    """The fitted surrogate; None if the exact potential drove. An adaptive one has learnt from the whole chain."""
    sampling: Phase


def run_sampler(
    potential: Potential,
    *,
    sampler: str,
    start: Array,
    step_size: float,
    n_steps: StepRange,
    iterations: int,
    explore_iterations: int,
    discard: int = 0,
    explore_with: Mapping[str, Any] | None = None,
    surrogate: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    chain: int = 1,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Chain:
    """Sample a posterior with a named sampler: explore with exact HMC, fit the surrogate, exploit it.

    Raises `ParameterError`, before the exploration, if a parameter is out of range, a setting is missing or misspelt,
    or the potential has no gradient or a wrong one; `FitError` if the surrogate cannot be fitted; `CheckpointError` if
    the checkpoint is damaged, or belongs to another chain.

    Parameters
    ----------
    potential
        U = -log density up to a constant, with `value`, `gradient`, `value_and_grad` and `dim`; with `metric` and
        `metric_vjp` too for ``"rmhmc"``, with `minibatch` for ``"sghmc"`` and ``"sghmc_mh"``.
    sampler
        A name in `rnshmc.run.recipes.RECIPES`, such as ``"rns_hmc"`` or ``"nng_hmc"``.
    start
        Start of the exploration, shape (dim,).
    step_size, n_steps
        Leapfrog step size and the range {low, ..., high} of its number of steps.
    iterations, explore_iterations
        Draws to keep, and draws of the exploration before them.
    discard
        First iterations of the exploration, excluded from the training set.
    explore_with
        ``step_size`` and ``n_steps`` of the exploration, which is HMC, if they differ from the sampler's.
    surrogate
        Settings of the surrogate's fit, such as ``{"hidden_units": 1000, "ridge": 1e-7}`` for ``"rns_hmc"``, or
        ``{"hidden_units": 100, "epochs": 50}`` for ``"nng_hmc"``.
    options
        Further settings of the sampler: keywords of its kernel, such as ``{"tolerance": 1e-6}`` for RMHMC or
        ``{"batch_size": 500}`` for ``"sghmc_mh"``, and under ``metric`` those of the surrogate's metric for
        ``"rns_rmhmc"``.
    seed, chain
        Root seed and number of the chain; each phase has its own stream.
    checkpoint
        File that saves the chain while it runs, with a part for each phase. Its spec has to identify the potential.
        After an interruption, the same call continues from it; call ``checkpoint.remove()`` after storing the chain.
    """
    name = f"chain{chain}"
    kind = recipe(sampler).surrogate
    # Invalid settings raise an error before the exploration, not after it.
    if kind is not None:
        check_options(sampler, options or {})
        check_settings(load(SURROGATES, kind).fit, surrogate or {}, key="surrogate", owner=kind, ours=("rng",))
        if not 0 <= discard < explore_iterations:
            raise ParameterError(f"discard: expected 0 <= discard < {explore_iterations} iterations, got {discard}")
    elif surrogate:
        raise ParameterError(f"surrogate: {sampler} has none, got settings {', '.join(surrogate)}")
    else:
        make_kernel(potential, None, sampler=sampler, step_size=step_size, n_steps=n_steps, options=options)
    check_potential(potential, start, stream(seed, "check", name))
    recording = GradientRecording(potential.dim, start=discard) if kind in FITTED_TO_GRADIENTS else None
    exploration = explore(
        potential,
        start=start,
        **(explore_with or {"step_size": step_size, "n_steps": n_steps}),
        iterations=explore_iterations,
        rng=stream(seed, "explore", name),
        recording=recording,
        progress=progress,
        checkpoint=checkpoint and checkpoint.part("explore"),
    )
    driver: FittedDriver | None = None
    if kind is not None:
        if recording is not None:
            pairs = recording.pairs().of_sound_trajectories(exploration.stats)
            states, observed = pairs.q, pairs.gradients
        else:
            states, observed = exploration.draws[discard:], exploration.stats["potential"][discard:]
        driver = fit(kind, states, observed, settings=surrogate or {}, rng=stream(seed, "surrogate", name))
    sampling = exploit(
        potential,
        driver,
        sampler=sampler,
        start=exploration.draws[-1],
        step_size=step_size,
        n_steps=n_steps,
        iterations=iterations,
        rng=stream(seed, sampler, name),
        options=options,
        progress=progress,
        checkpoint=checkpoint and checkpoint.part("sample").extended(fit={"discard": discard, **(surrogate or {})}),
    )
    return Chain(exploration, driver, sampling)
