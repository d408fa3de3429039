"""NNg-HMC under another prior without new training: the network was trained under a wider one (paper B, Fig. 4).

The gradient of the likelihood does not depend on the prior, so a network trained under one prior can drive under
another (`rnshmc.targets.priors`). But the posterior changes: most of its mass lies where the network was not trained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.agreement import MIN_ESS, compare_means
from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.random import stream
from rnshmc.run.phases import dynamics, exploit
from rnshmc.targets.priors import NormalPrior, SwappedPriorDriver
from rnshmc.types import Array, Driver, Potential

EXACT, NETWORK = "hmc", "nng_hmc"
MAX_DRAWS = 1000
"""Maximum number of draws of each sampler and prior in the figure."""
NETWORK_FACTOR = 10
"""Iterations of NNg-HMC per iteration of HMC: each costs a tenth, and few of its proposals are accepted."""
LEVEL = 0.01
"""Probability that two estimates of the same means differ by more than the threshold in some coordinate."""


@dataclass(frozen=True)
class PriorSwap:
    """Standard deviations of both priors, and settings of the chains (`experiments.nng_fig4` in config/README.md)."""

    seed: int
    old_sd: float
    new_sd: float
    burn_in: int
    iterations: int


@dataclass(frozen=True)
class Kept:
    """The kept part of a chain under either prior."""

    sampler: str
    prior_sd: float
    draws: Array
    """Shape (n, dim)."""
    acceptance: float
    """Share of accepted proposals."""


def swap_prior(
    experiment: PriorSwap,
    *,
    target: Potential,
    network: Driver,
    start: Array,
    settings: Mapping[str, Mapping[str, Any]],
) -> list[Kept]:
    """Run HMC and NNg-HMC under the new prior.

    The exact potential under the new prior decides in both. They start at a state of the exploration under the old
    prior, with the step size and numbers of steps that each had under it. Raises `ParameterError` if a setting is out
    of range.
    """
    swapped = SwappedPriorDriver(network, old=NormalPrior(experiment.old_sd), new=NormalPrior(experiment.new_sd))
    drivers: dict[str, Driver | None] = {EXACT: None, NETWORK: swapped}
    found = []
    for sampler, driver in drivers.items():
        phase = exploit(
            target,
            driver,
            sampler=sampler,
            start=start,
            iterations=experiment.burn_in + experiment.iterations * (1 if sampler == EXACT else NETWORK_FACTOR),
            rng=stream(experiment.seed, "nng_fig4", sampler),
            **dynamics(settings[sampler]),
        )
        draws, accepted = phase.draws[experiment.burn_in :], phase.stats["accepted"][experiment.burn_in :]
        found.append(Kept(sampler, experiment.new_sd, draws, float(accepted.mean())))
    return found


def draws_table(chains: Sequence[Kept], coordinates: Sequence[int]) -> pd.DataFrame:
    """Two coordinates of at most `MAX_DRAWS` evenly spaced draws of each chain.

    Columns sampler, prior_variance, draw, x_coordinate, y_coordinate (counted from 1), x, y. Coordinates are counted
    from 0 in the argument.
    """
    i, j = coordinates
    parts = []
    for chain in chains:
        chosen = np.arange(0, len(chain.draws), -(-len(chain.draws) // MAX_DRAWS))
        x, y = chain.draws[chosen, i], chain.draws[chosen, j]
        columns = {"draw": chosen, "x_coordinate": i + 1, "y_coordinate": j + 1, "x": x, "y": y}
        parts.append(pd.DataFrame({**_names(chain), **columns}))
    return pd.concat(parts, ignore_index=True)


def acceptance_table(chains: Sequence[Kept], draws: pd.DataFrame) -> pd.DataFrame:
    """Acceptance of each chain, and agreement of its means with HMC under the same prior.

    Columns sampler, prior_variance, acceptance, means: one row for each chain; `means` is the largest difference from
    the means of HMC over its Monte Carlo threshold at `LEVEL`, NaN with an ESS below `MIN_ESS`. ``draws`` is the table
    of `draws_table`.
    """
    rows = pd.DataFrame([{**_names(chain), "acceptance": chain.acceptance} for chain in chains])
    found = {key: _means(part[["x", "y"]].to_numpy()) for key, part in draws.groupby(["sampler", "prior_variance"])}
    keys = zip(rows["sampler"], rows["prior_variance"], strict=True)
    return rows.assign(means=[_distance(found[key], found[EXACT, key[1]]) for key in keys])


def _means(draws: Array) -> tuple[Array, Array, float]:
    """Means, their Monte Carlo standard errors, and the minimum effective sample size."""
    sizes = np.maximum(geyer_ess(draws), 1.0)
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(sizes), float(sizes.min())


def _distance(ours: tuple[Array, Array, float], hmc: tuple[Array, Array, float]) -> float:
    result = compare_means(ours[0], ours[1], hmc[0], hmc[1], level=LEVEL)
    return result.max_abs_z / result.threshold if min(ours[2], hmc[2]) >= MIN_ESS else float("nan")


def _names(chain: Kept) -> dict[str, Any]:
    return {"sampler": chain.sampler, "prior_variance": chain.prior_sd**2}
