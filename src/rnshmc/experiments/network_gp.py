"""Gradient network and Gaussian process on standard Gaussians, by dimension (paper B, section 4.5, Table 4)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import FITTED_TO_GRADIENTS, fit
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array, Driver


@dataclass(frozen=True)
class NetworkComparison:
    """Settings shared by all cells of the table (`experiments.nng_table4` in config/README.md)."""

    seed: int
    step_size: float
    n_steps: StepRange
    iterations: int
    repeats: int


def training_states(comparison: NetworkComparison, d: int, size: int, repeat: int) -> Array:
    """Draws of N(0, I_d), shape (size, d): nested for one repeat, and the same for every method."""
    return standard_gaussian(d).sample(_stream(comparison, "states", f"d{d}", f"repeat{repeat}"), size)


def comparison_rows(
    comparison: NetworkComparison, *, method: str, d: int, sizes: Sequence[int], settings: Mapping[str, Any] | None
) -> pd.DataFrame:
    """Train and run one sampler on N(0, I_d) with training sets of several sizes: one row per size and repeat.

    A Gaussian process is trained on exact potentials, a gradient network on exact gradients. Chains start at a draw of
    the target. Columns method, d, size, repeat, acceptance (share of accepted proposals), acceptance_with_empty (the
    same with trajectories of no step, as printed) and train_s (processor seconds). Size is 0 where nothing is trained:
    without ``settings``, keywords of the ``fit`` of what drives, the exact potential drives. Raises `FitError` if a
    driver cannot be fitted.
    """
    rows = []
    for size in sizes:
        for repeat in range(1, comparison.repeats + 1):
            driver, train_s = None, 0.0
            names = (method, f"d{d}", f"n{size}", f"repeat{repeat}")
            if settings is not None:
                q = training_states(comparison, d, size, repeat)
                started = time.process_time()
                driver = _fit(method, standard_gaussian(d), q, settings, _stream(comparison, *names, "fit"))
                train_s = time.process_time() - started
            acceptance = chain_acceptance(comparison, method=method, driver=driver, d=d, names=names)
            rows.append(
                {
                    "method": method,
                    "d": d,
                    "size": size,
                    "repeat": repeat,
                    "acceptance": acceptance,
                    "acceptance_with_empty": with_empty(acceptance, comparison.n_steps),
                    "train_s": train_s,
                }
            )
    return pd.DataFrame(rows)


def chain_acceptance(
    comparison: NetworkComparison, *, method: str, driver: Driver | None, d: int, names: Sequence[str]
) -> float:
    """Share of accepted proposals of one chain on N(0, I_d); ``names`` identify its random streams."""
    target = standard_gaussian(d)
    phase = exploit(
        target,
        driver,
        sampler=method,
        start=target.sample(_stream(comparison, *names, "start"), 1)[0],
        step_size=comparison.step_size,
        n_steps=comparison.n_steps,
        iterations=comparison.iterations,
        rng=_stream(comparison, *names, "chain"),
    )
    return float(phase.stats["accepted"].mean())


def standard_gaussian(d: int) -> Gaussian:
    """N(0, I_d)."""
    return Gaussian(np.zeros(d), np.eye(d))


def _fit(method: str, target: Gaussian, q: Array, settings: Mapping[str, Any], rng: np.random.Generator) -> Driver:
    surrogate = recipe(method).surrogate
    evaluate: Callable[[Array], Any] = target.gradient if surrogate in FITTED_TO_GRADIENTS else target.value
    driver: Driver = fit(surrogate, q, np.array([evaluate(row) for row in q]), settings=settings, rng=rng)
    return driver


def _stream(comparison: NetworkComparison, *names: str) -> np.random.Generator:
    return stream(comparison.seed, "nng_table4", *names)
