"""Potential of a logistic regression whose rows are distributed over ranks, and a short chain on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.datasets.shards import shard_coefficients, simulate_shard
from rnshmc.experiments.scaling import measure
from rnshmc.random import stream
from rnshmc.run.chain import run_phase
from rnshmc.run.replicated import make_replicated_kernel
from rnshmc.surrogates.storage import Stored
from rnshmc.targets.ensemble import together
from rnshmc.targets.sharded_logistic import ShardedLogistic
from rnshmc.types import Array


@dataclass(frozen=True)
class ShardedRun:
    """Settings of the study (`scaling.logistic` in config/README.md)."""

    seed: int
    rows: int
    dimension: int
    prior_sd: float
    evaluations: int
    step_size: float
    n_steps: tuple[int, int]
    iterations: int


@dataclass(frozen=True, eq=False)
class ShardedResults(Stored):
    """Results that must not depend on the number of ranks, except for rounding."""

    positions: Array
    values: Array
    gradients: Array
    """Positions around the true coefficients, (m, d), with the potential, (m,), and its gradient, (m, d), there."""
    draws: Array
    """The chain, (n, d)."""


def run_sharded(comm: Any, run: ShardedRun) -> tuple[ShardedResults, pd.DataFrame]:
    """Simulate each rank's rows on it, evaluate the potential, and run a chain. Collective.

    The results and the seconds (`rnshmc.experiments.scaling.COLUMNS`) are the same on every rank. If one
    fails, all raise `RnshmcError`.
    """
    X, y = together(
        comm, lambda: simulate_shard(run.rows, run.dimension, seed=run.seed, rank=comm.rank, size=comm.size)
    )
    potential = ShardedLogistic(comm, X, y, run.prior_sd)
    del X, y
    coefficients = shard_coefficients(run.dimension, run.seed)
    noise = stream(run.seed, "shards", "positions").standard_normal((run.evaluations, run.dimension))
    positions = coefficients + run.step_size * noise
    values, gradients = zip(*map(potential.value_and_grad, positions), strict=True)
    _, evaluations = measure(
        comm,
        lambda: potential.value_and_grad(coefficients),
        what="logistic regression: potential and gradient",
        size=run.rows,
        unit="rows",
        repeats=run.evaluations,
    )
    kernel, counter = make_replicated_kernel(
        potential, None, comm, sampler="hmc", step_size=run.step_size, n_steps=run.n_steps
    )
    start, rng = kernel.init(coefficients), stream(run.seed, "shards", "chain")
    (_, chain), iterations = measure(
        comm,
        lambda: run_phase(kernel, start, iterations=run.iterations, rng=rng, counter=counter),
        what="logistic regression: chain of HMC",
        size=run.iterations,
        unit="iterations",
        repeats=1,
    )
    results = ShardedResults(positions, np.array(values), np.array(gradients), chain.draws)
    return results, pd.concat([evaluations, iterations])
