"""The three steps of a surrogate sampler as functions, and `sample`, which strings them together (paper A, Alg. 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.chain import Kernel, Phase, Progress, run_phase
from rnshmc.run.counting import CountedDriver, CountedPotential, Counter
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import KERNELS, SURROGATES, load
from rnshmc.types import Array, Driver, Potential

N_STEPS = tuple[int, int]


@dataclass(frozen=True)
class Chain:
    """A chain with its exploration, which is its warm-up."""

    exploration: Phase
    surrogate: Any
    """The fitted surrogate, or None where the exact potential drove."""
    sampling: Phase


def make_kernel(
    potential: Potential, driver: Driver | None, *, sampler: str, step_size: float, n_steps: N_STEPS
) -> tuple[Kernel, Counter]:
    """The kernel of a recipe on counted evaluations, and the counter; ``driver`` None lets the potential drive."""
    counter = Counter()
    decides = CountedPotential(potential, counter)
    drives = decides if driver is None else CountedDriver(driver, counter)
    kernel: Kernel = load(KERNELS, recipe(sampler).kernel)(decides, drives, step_size=step_size, n_steps=n_steps)
    return kernel, counter


def explore(
    potential: Potential,
    *,
    start: Array,
    step_size: float,
    n_steps: N_STEPS,
    iterations: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Phase:
    """Run exact HMC from ``start`` to find and map the region of high density."""
    return exploit(
        potential,
        None,
        sampler="hmc",
        start=start,
        step_size=step_size,
        n_steps=n_steps,
        iterations=iterations,
        rng=rng,
        progress=progress,
    )


def fit(
    exploration: Array,
    potentials: Array,
    *,
    surrogate: str,
    discard: int,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> Any:
    """Fit a surrogate to the states of an exploration.

    The training set is the state and its potential at each iteration after the first ``discard``, repeats included.

    Parameters
    ----------
    exploration, potentials
        States, shape (n, dim), and U at each of them, shape (n,).
    surrogate
        A name in `rnshmc.run.registry.SURROGATES`.
    settings
        Keyword settings of that surrogate's ``fit``.

    Raises
    ------
    ParameterError
        If there is no such surrogate, or nothing is left after ``discard``.
    FitError
        If the surrogate cannot be fitted.
    """
    if not 0 <= discard < len(exploration):
        raise ParameterError(f"discard: expected 0 <= discard < {len(exploration)} iterations, got {discard}")
    return load(SURROGATES, surrogate).fit(exploration[discard:], potentials[discard:], rng=rng, **settings)


def exploit(
    potential: Potential,
    driver: Driver | None,
    *,
    sampler: str,
    start: Array,
    step_size: float,
    n_steps: N_STEPS,
    iterations: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Phase:
    """Run a recipe's kernel from ``start``, driven by ``driver`` (None: by the exact potential)."""
    if iterations < 1:
        raise ParameterError(f"iterations: expected at least 1, got {iterations}")
    kernel, counter = make_kernel(potential, driver, sampler=sampler, step_size=step_size, n_steps=n_steps)
    _, phase = run_phase(kernel, kernel.init(start), iterations=iterations, rng=rng, counter=counter, progress=progress)
    return phase


def sample(
    potential: Potential,
    *,
    sampler: str,
    start: Array,
    step_size: float,
    n_steps: N_STEPS,
    iterations: int,
    explore_iterations: int,
    discard: int = 0,
    surrogate: Mapping[str, Any] | None = None,
    seed: int = 0,
    chain: int = 1,
    progress: Progress | None = None,
) -> Chain:
    """Sample a posterior with a named sampler: explore with exact HMC, fit the surrogate, exploit it.

    Parameters
    ----------
    potential
        U = -log density up to a constant, with `value`, `gradient`, `value_and_grad` and `dim`.
    sampler
        A name in `rnshmc.run.recipes.RECIPES`, such as ``"rns_hmc"``.
    start
        Where the exploration starts, shape (dim,).
    step_size, n_steps
        Leapfrog step size and the range {low, ..., high} of its number of steps.
    iterations, explore_iterations
        Draws to keep, and draws of the exploration before them.
    discard
        First iterations of the exploration that stay out of the training set.
    surrogate
        Settings of the surrogate's fit, such as ``{"hidden_units": 1000, "ridge": 1e-7}``.
    seed, chain
        Root seed and number of the chain; each phase has a stream of its own.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    FitError
        If the surrogate cannot be fitted.
    """
    names = f"chain{chain}"
    exploration = explore(
        potential,
        start=start,
        step_size=step_size,
        n_steps=n_steps,
        iterations=explore_iterations,
        rng=stream(seed, "explore", names),
        progress=progress,
    )
    kind = recipe(sampler).surrogate
    driver = None
    if kind is not None:
        driver = fit(
            exploration.draws,
            exploration.stats["potential"],
            surrogate=kind,
            discard=discard,
            settings=surrogate or {},
            rng=stream(seed, "surrogate", names),
        )
    sampling = exploit(
        potential,
        driver,
        sampler=sampler,
        start=exploration.draws[-1],
        step_size=step_size,
        n_steps=n_steps,
        iterations=iterations,
        rng=stream(seed, sampler, names),
        progress=progress,
    )
    return Chain(exploration, driver, sampling)
