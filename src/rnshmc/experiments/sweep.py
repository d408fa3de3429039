"""Acceptance of RNS-HMC by dimension, hidden units and training points (paper A, sections 3.4 and 4, Figs. 4 and 5)."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit
from rnshmc.run.registry import fit
from rnshmc.types import Array, Potential


class SweepPoint(NamedTuple):
    """A point of a sweep; its runs are shared by all figures that contain it."""

    d: int
    """Parameters of the logistic regression."""
    hidden_units: int
    """Hidden units s of the random network."""
    training_points: int
    """Training states N."""


def sweep_points(figure: str, grid: Mapping[str, Sequence[int]], cuts: Mapping[str, int]) -> list[SweepPoint]:
    """All points of a figure, training points varying fastest.

    ``figure`` is its name in the config, for messages; ``cuts`` are the values at which it cuts through the grid.
    Raises `ParameterError` if a cut misses the grid.
    """
    for name, value in cuts.items():
        if value not in grid[name]:
            raise ParameterError(
                f"sweeps.{figure}.cuts.{name} is {value}, which is not among sweeps.{figure}.grid.{name} "
                f"({', '.join(map(str, grid[name]))})"
            )
    return [SweepPoint(*values) for values in product(*(grid[name] for name in SweepPoint._fields))]


def sweep_run(
    potential: Potential,
    draws: Array,
    stats: Mapping[str, npt.NDArray[Any]],
    *,
    point: SweepPoint,
    run: int,
    seed: int,
    discard: int,
    keep: int,
    ridge: float,
    step_size: float,
    n_steps: StepRange,
) -> dict[str, float]:
    """Train a random network on the first part of an exploration and run RNS-HMC from the end of that part.

    The training sets of one exploration are nested: N points are the states that one has after waiting for N iterations
    beyond ``discard``, repeats included, and their potentials. Returns the fields of ``point``, run, step_size, ap
    (share of accepted proposals of RNS-HMC) and hmc_ap (that of exact HMC over the exploration after ``discard``). The
    potential decides; number of the exploration and point name the random streams; ``keep`` are the iterations of
    RNS-HMC. Raises `ParameterError` if the exploration is too short; `FitError` if the network cannot be fitted.
    """
    end = discard + point.training_points
    if end > len(draws):
        raise ParameterError(
            f"training_points: {point.training_points} beyond discard = {discard} need an exploration of {end} "
            f"iterations, got {len(draws)}"
        )
    names = ("sweep", f"d{point.d}", f"run{run}", f"s{point.hidden_units}", f"n{point.training_points}")
    network = fit(
        "random_network",
        draws[discard:end],
        stats["potential"][discard:end],
        settings={"hidden_units": point.hidden_units, "ridge": ridge},
        rng=stream(seed, *names, "fit"),
    )
    kept = exploit(
        potential,
        network,
        sampler="rns_hmc",
        start=draws[end - 1],
        step_size=step_size,
        n_steps=n_steps,
        iterations=keep,
        rng=stream(seed, *names, "chain"),
    )
    return {
        **point._asdict(),
        "run": run,
        "step_size": step_size,
        "ap": float(kept.stats["accepted"].mean()),
        "hmc_ap": float(stats["accepted"][discard:].mean()),
    }
