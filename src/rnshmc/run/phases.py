"""The two phases that move a chain: explore with exact HMC, exploit with whatever drives (paper A, Algorithm 3)."""

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.run.chain import Kernel, Phase, Progress, run_phase
from rnshmc.run.counting import CountedDriver, CountedPotential, Counter
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import KERNELS, load
from rnshmc.types import Array, Driver, Potential

StepRange = tuple[int, int]
"""Lowest and highest number of leapfrog steps of a trajectory."""


def make_kernel(
    potential: Potential, driver: Driver | None, *, sampler: str, step_size: float, n_steps: StepRange
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
    n_steps: StepRange,
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


def exploit(
    potential: Potential,
    driver: Driver | None,
    *,
    sampler: str,
    start: Array,
    step_size: float,
    n_steps: StepRange,
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
