"""The two phases of a chain: explore with exact HMC, exploit with the driver (paper A, Algorithm 3)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.run.argument_checks import check_settings
from rnshmc.run.chain import Kernel, Phase, Progress, run_phase
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.counting import (
    CountedAdaptiveDriver,
    CountedDriver,
    CountedMinibatchDriver,
    CountedPotential,
    CountedRiemannianDriver,
    CountedRiemannianPotential,
    Counter,
)
from rnshmc.run.recipes import recipe
from rnshmc.run.recording import GradientRecording, RecordedKernel, RecordedPotential
from rnshmc.run.registry import KERNELS, VIEWS, load
from rnshmc.types import AdaptiveDriver, Array, Driver, MinibatchDriver, Potential, RiemannianPotential

StepRange = tuple[int, int]
"""Minimum and maximum number of leapfrog steps of a trajectory."""


def dynamics(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of the functions below from a sampler's settings in a config.

    Every sampler has ``step_size`` and ``n_steps``; all other settings become ``options``.
    """
    options = {key: value for key, value in settings.items() if key not in ("step_size", "n_steps")}
    shared: dict[str, Any] = {"step_size": settings["step_size"], "n_steps": tuple(settings["n_steps"])}
    return {**shared, "options": options} if options else shared


def start_point(settings: Mapping[str, Any], dim: int) -> Array:
    """The ``start`` of a problem's settings, shape (dim,), or the origin if there is none.

    Raises `ParameterError` if it has another number of coordinates.
    """
    start: Array = np.array(settings.get("start", [0.0] * dim), dtype=float)
    if start.shape != (dim,):
        raise ParameterError(f"start: {start.size} coordinates, but the posterior has {dim}")
    return start


def check_options(sampler: str, options: Mapping[str, Any]) -> None:
    """Check that the kernel of a recipe knows its options and misses none, and that its view has settings.

    Raises `ParameterError` if no recipe has that name, or an option is unknown or missing.
    """
    chosen, own = recipe(sampler), dict(options)
    if chosen.view is not None and own.pop("metric", None) is None:
        raise ParameterError(f"options: {sampler} needs metric")
    check_settings(load(KERNELS, chosen.kernel), own, key="options", owner=sampler, ours=("step_size", "n_steps"))


def make_kernel(
    potential: Potential,
    driver: Driver | None,
    *,
    sampler: str,
    step_size: float,
    n_steps: StepRange,
    options: Mapping[str, Any] | None = None,
) -> tuple[Kernel[Any], Counter]:
    """Make the kernel of a recipe with counted evaluations, and the counter.

    Without a driver, which is a fitted surrogate, the exact potential drives. Options are keywords of the kernel and,
    under ``metric``, those of the view through which the surrogate is a metric. Raises `ParameterError` if a setting is
    out of range or missing, the driver does not fit the recipe, or the recipe needs a metric or mini-batches that the
    potential does not have.
    """
    chosen, counter = recipe(sampler), Counter()
    if (driver is None) != (chosen.surrogate is None):
        needed = "the exact potential alone" if chosen.surrogate is None else f"a fitted {chosen.surrogate!r}"
        raise ParameterError(f"driver: {sampler} is driven by {needed}")
    more = dict(options or {})
    check_options(sampler, more)
    if isinstance(potential, RiemannianPotential):
        decides: CountedPotential[Any] = CountedRiemannianPotential(potential, counter)
    else:
        decides = CountedPotential(potential, counter)
    drives: Driver = decides
    if driver is not None and chosen.view is not None:
        drives = CountedRiemannianDriver(load(VIEWS, chosen.view)(driver, **more.pop("metric", {})), counter)
    elif isinstance(driver, AdaptiveDriver):
        drives = CountedAdaptiveDriver(driver, counter)
    elif driver is not None:
        drives = CountedDriver(driver, counter)
    elif chosen.minibatches:
        if not isinstance(potential, MinibatchDriver):
            raise ParameterError(
                f"potential: {sampler} needs mini-batches, which {type(potential).__name__} does not provide"
            )
        drives = CountedMinibatchDriver(potential, counter)
    kernel = load(KERNELS, chosen.kernel)(decides, drives, step_size=step_size, n_steps=n_steps, **more)
    return kernel, counter


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
    options: Mapping[str, Any] | None = None,
    recording: GradientRecording | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Phase:
    """Run a recipe's kernel from ``start``, driven by ``driver``.

    The parameters are those of `make_kernel`. Gradients along the trajectories are stored in ``recording`` and its
    checkpoints, without effect on draws or counts.

    The sampler and its settings are added to the spec of a ``checkpoint``, see `rnshmc.run.chain.run_phase`; the caller
    has to identify potential and driver. Raises `ParameterError` if a setting is out of range, or the chain cannot
    start at ``start``; `CheckpointError` if the checkpoint is damaged, or belongs to another chain.
    """
    settings: dict[str, Any] = {"sampler": sampler, "step_size": step_size, "n_steps": n_steps}
    settings["options"] = dict(options or {})
    observed = potential if recording is None else RecordedPotential(potential, recording)
    kernel, counter = make_kernel(observed, driver, **settings)
    if recording is not None:
        kernel = RecordedKernel(kernel, recording)
        checkpoint = checkpoint and checkpoint.extended(recording={"start": recording.start})
    if iterations < 1:
        raise ParameterError(f"iterations: expected at least 1, got {iterations}")
    _, phase = run_phase(
        kernel,
        kernel.init(start),
        iterations=iterations,
        rng=rng,
        counter=counter,
        progress=progress,
        checkpoint=checkpoint and checkpoint.extended(dynamics=settings),
    )
    return phase


explore = partial(exploit, driver=None, sampler="hmc")
"""Run exact HMC to find and map the region of high density, with the other parameters of `exploit`."""
