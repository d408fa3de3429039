"""Surrogates on a narrow high-dimensional Gaussian, by size of the training set (paper A, Fig. 3)."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import fit
from rnshmc.surrogates.matching import potential_matching
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array, Driver

HELD_OUT = 1000
"""Draws of the target on which the error of every surrogate is measured."""


@dataclass(frozen=True)
class GaussianSweep:
    """Settings shared by all points of the sweep (`experiments.fig3` in config/README.md)."""

    seed: int
    dimension: int
    wide_variance: float
    narrow_variance: float
    noise_sd: float
    step_size: float
    n_steps: StepRange
    iterations: int
    burn_in: int

    def target(self) -> Gaussian:
        """N(0, C) with C = narrow I + (wide - narrow) e e', e = (1, ..., 1) / sqrt(dimension).

        In 32 dimensions, with variances 1 and 0.01, C is the covariance that paper A's authors published.
        """
        along = np.full((self.dimension, self.dimension), 1.0 / self.dimension)
        covariance = self.narrow_variance * np.eye(self.dimension)
        covariance += (self.wide_variance - self.narrow_variance) * along
        return Gaussian(np.zeros(self.dimension), covariance)

    def training_set(self, repeat: int, size: int) -> tuple[Array, Array]:
        """Draws of the target, shape (size, dimension), and their noisy potentials, shape (size,).

        The sets of one repeat are nested, and the same for every method.
        """
        target = self.target()
        q = target.sample(stream(self.seed, "fig3", "states", f"repeat{repeat}"), size)
        noise = stream(self.seed, "fig3", "noise", f"repeat{repeat}").standard_normal(size)
        return q, np.array([target.value(row) for row in q]) + self.noise_sd * noise

    def inducing_points(self, repeat: int, count: int) -> Array:
        """Draws of the target, not among the training states, shape (count, dimension)."""
        return self.target().sample(stream(self.seed, "fig3", "inducing points", f"repeat{repeat}"), count)


def sweep_point(
    sweep: GaussianSweep, *, sampler: str, size: int, repeats: int, settings: Mapping[str, Any] | None
) -> pd.DataFrame:
    """Train and run one sampler with training sets of one size: one row per repeat.

    Seconds are processor seconds of this process, which other jobs on the machine stretch little; wall-clock seconds
    stand beside them, and where these are much longer the measurement was disturbed. Columns method, size, repeat,
    search_s (of the search for hyperparameters, which the published clock leaves out), train_s and train_wall_s (of the
    fit once they are known), sample_s and sample_wall_s (of the iterations after the burn-in), acceptance, mean_ess
    (over the coordinates), ess_per_s, matching_sd (standard deviation of surrogate minus exact potential over fresh
    draws of the target) and failures (of the driver). Size is 0 where nothing is trained, because ``settings``,
    keywords of the ``fit`` of the surrogate, are None and the exact potential drives. The inducing points of FITC are
    drawn from the target, as the published code does, and not from the training states. Raises `FitError` if a
    surrogate cannot be fitted.
    """
    rows = []
    for repeat in range(1, repeats + 1):
        trained = _Trained() if settings is None else _train(sweep, sampler, size, repeat, settings)
        rows.append({"method": sampler, "size": size, "repeat": repeat, **_run(sweep, sampler, size, repeat, trained)})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Trained:
    """The driver of a chain and the cost of its training; the exact potential needs none and has no error."""

    driver: Driver | None = None
    search_s: float = 0.0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    matching_sd: float = 0.0


def _train(sweep: GaussianSweep, sampler: str, size: int, repeat: int, settings: Mapping[str, Any]) -> _Trained:
    surrogate = recipe(sampler).surrogate
    q, u = sweep.training_set(repeat, size)
    rng = stream(sweep.seed, "fig3", sampler, f"n{size}", f"repeat{repeat}", "fit")
    if "inducing_points" in settings:
        settings = {**settings, "inducing_points": sweep.inducing_points(repeat, settings["inducing_points"])}
    search_s = 0.0
    if "max_evaluations" in settings:
        start = time.process_time()
        searched = fit(surrogate, q, u, settings=settings, rng=rng)
        search_s = time.process_time() - start
        settings = {**settings, "hyperparameters": searched.hyperparameters}
    cpu, wall = time.process_time(), time.perf_counter()
    driver = fit(surrogate, q, u, settings=settings, rng=rng)
    cpu_s, wall_s = time.process_time() - cpu, time.perf_counter() - wall
    target = sweep.target()
    fresh = target.sample(stream(sweep.seed, "fig3", "held out", f"repeat{repeat}"), HELD_OUT)
    match = potential_matching(driver.predict(fresh), np.array([target.value(q) for q in fresh]))
    return _Trained(driver, search_s, cpu_s, wall_s, math.sqrt(match.variance))


def _run(sweep: GaussianSweep, sampler: str, size: int, repeat: int, trained: _Trained) -> dict[str, Any]:
    target = sweep.target()
    run = partial(
        exploit,
        target,
        trained.driver,
        sampler=sampler,
        step_size=sweep.step_size,
        n_steps=sweep.n_steps,
        rng=stream(sweep.seed, "fig3", sampler, f"n{size}", f"repeat{repeat}", "chain"),
    )
    # The chain starts in the typical set: the comparison is of surrogates, not of their convergence to it.
    start = target.sample(stream(sweep.seed, "fig3", "start", f"repeat{repeat}"), 1)[0]
    burnt_in = run(start=start, iterations=sweep.burn_in)
    kept = run(start=burnt_in.draws[-1], iterations=sweep.iterations - sweep.burn_in)
    mean_ess = float(geyer_ess(kept.draws).mean())
    return {
        "search_s": trained.search_s,
        "train_s": trained.cpu_s,
        "train_wall_s": trained.wall_s,
        "sample_s": kept.cpu_s,
        "sample_wall_s": kept.wall_s,
        "acceptance": float(kept.stats["accepted"].mean()),
        "mean_ess": mean_ess,
        "ess_per_s": mean_ess / kept.cpu_s,
        "matching_sd": trained.matching_sd,
        "failures": int(kept.stats["solver_failed"].sum()),
    }
