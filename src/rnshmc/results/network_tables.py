"""Tables 1, 2, 3 and 5 of paper B in one, made of the chains' metrics and of the timing stage.

As in `rnshmc.results.tables`, seconds per iteration come from the timing stage alone, everything else from the chains.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.agreement import MIN_ESS, compare_means, pool_means
from rnshmc.errors import StoreError
from rnshmc.results.estimates import BASELINE, Cell, Estimate, cells
from rnshmc.results.network_metrics import NetworkChain
from rnshmc.store.timing import Timing
from rnshmc.types import Array

PAPER_ITERATIONS = 10_000
"""Iterations of each chain of paper B, of which the first tenth is left out of its effective sample sizes."""

_MEANS = (
    "ap",
    "ess_min",
    "ess_median",
    "ess_max",
    "truncated_ess_min",
    "truncated_ess_median",
    "truncated_ess_max",
    "values_per_iter",
    "gradients_per_iter",
)
_EFFICIENCY = ("median_ess_per_s", "total_median_ess_per_s")
_SPEEDUPS = {"speedup": "median_ess_per_s", "total_speedup": "total_median_ess_per_s"}
NETWORK_COLUMNS = (
    "problem",
    "sampler",
    "recipe",
    "training_draws",
    "chains",
    "draws",
    *_MEANS,
    "s_per_iter",
    "fit_s",
    "sample_s",
    "total_s",
    *_EFFICIENCY,
    *_SPEEDUPS,
    "loaded",
    "data",
)
AGREEMENT_COLUMNS = (
    "problem",
    "sampler",
    "max_abs_z",
    "n_coordinates",
    "threshold",
    "agrees",
    "shift",
    "spread",
    "chains",
    "data",
)
_ALIKE = ("origin", "draws", "recipe", "training_draws")


def network_table(metrics: Sequence[NetworkChain], timings: Sequence[Timing]) -> pd.DataFrame:
    """Paper B's Tables 1, 2, 3 and 5 in one: a row per problem and sampler.

    Acceptance, effective sample sizes (`ess_*` Geyer's, `truncated_ess_*` those of the published implementation),
    evaluations of the exact potential and gradient per iteration, and `fit_s`, the processor seconds of the training,
    are means over chains; `s_per_iter` is the median over the blocks of the timing stage. `training_draws` are the
    iterations of exact HMC until the network was trained. Seconds are counted in two ways, since Tables 1 to 3 of the
    paper leave out what Table 5 includes:

    - `sample_s` is `PAPER_ITERATIONS` times `s_per_iter`; `median_ess_per_s` is the median ESS per second of it, and
      `speedup` that relative to HMC on the same problem.
    - `total_s` are the seconds of as many draws from the first on: `training_draws` of HMC, the training, and the
      remaining draws, however many of those were made. `total_median_ess_per_s` is the median ESS of
      `PAPER_ITERATIONS` draws per second of it, and `total_speedup` that relative to HMC.

    `loaded` says that other work kept the machine busy while seconds were measured; `data` is the origin of the data.

    Raises
    ------
    StoreError
        If a timing is missing, or the chains of a row differ in data, length, recipe or training draws.
    """
    return _table(metrics, timings, "value")


def network_table_standard_errors(metrics: Sequence[NetworkChain], timings: Sequence[Timing]) -> pd.DataFrame:
    """Standard errors of `network_table`, in the same rows and columns; NaN where there is one chain or block only.

    They are taken over chains for what is measured on chains and over blocks for `s_per_iter`; errors of sums, and
    relative errors of ratios, add in quadrature. HMC's speed-ups are 1 by definition, without error.
    """
    return _table(metrics, timings, "error")


def network_agreement(metrics: Sequence[NetworkChain], *, level: float = 0.01) -> pd.DataFrame:
    """Each sampler's posterior beside that of HMC on the same problem, where HMC ran.

    `max_abs_z`, `threshold` and `agrees` compare the means within Monte Carlo error
    (`rnshmc.diagnostics.agreement.compare_means`, at `level`); where either has less than `MIN_ESS` effective draws of
    a coordinate, their errors are not to be relied upon, `max_abs_z` is NaN and `agrees` missing. `shift` and `spread`
    say how far apart the posteriors are, whatever the error: the median over the coordinates of the distance of the
    means in standard deviations of HMC, and of the factor, at least 1, by which the standard deviations differ. Both
    are NaN where HMC never moved, and `spread` where the sampler never did.

    Raises
    ------
    StoreError
        If the chains of a row differ in data, length, recipe or training draws.
    """
    chains = cells(metrics, alike=_ALIKE)
    rows = [
        {"problem": problem, "sampler": sampler, **_compare(members, chains[problem, BASELINE], level=level)}
        for (problem, sampler), members in chains.items()
        if sampler != BASELINE and (problem, BASELINE) in chains
    ]
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS)).astype({"agrees": "boolean"})


def _table(metrics: Sequence[NetworkChain], timings: Sequence[Timing], part: str) -> pd.DataFrame:
    chains = cells(metrics, alike=_ALIKE)
    seconds = {(timing.problem, timing.sampler): timing for timing in timings}
    rows = [
        {
            **_labels(cell, chains[cell]),
            "loaded": seconds[cell].loaded,
            **{name: getattr(estimate, part) for name, estimate in row.items()},
        }
        for cell, row in _estimates(chains, seconds).items()
    ]
    return pd.DataFrame(rows, columns=list(NETWORK_COLUMNS)).astype({"training_draws": "Int64"})


def _labels(cell: Cell, chains: Sequence[NetworkChain]) -> dict[str, Any]:
    first = chains[0]
    return {
        "problem": cell[0],
        "sampler": cell[1],
        "recipe": first.recipe,
        "training_draws": first.training_draws,
        "chains": len(chains),
        "draws": first.draws,
        "data": first.origin,
    }


def _estimates(
    chains: Mapping[Cell, Sequence[NetworkChain]], seconds: Mapping[Cell, Timing]
) -> dict[Cell, dict[str, Estimate]]:
    missing = [cell for cell in chains if cell not in seconds]
    if missing:
        raise StoreError(f"no timing of {'/'.join(missing[0])}")
    table = {
        (problem, sampler): _cell_estimates(members, seconds[problem, sampler], seconds.get((problem, BASELINE)))
        for (problem, sampler), members in chains.items()
    }
    for (problem, sampler), row in table.items():
        baseline = table.get((problem, BASELINE))
        for name, efficiency in _SPEEDUPS.items():
            if sampler == BASELINE:
                row[name] = Estimate(1.0, 0.0)
            elif baseline is None:
                row[name] = Estimate(math.nan, math.nan)
            else:
                row[name] = row[efficiency].per(baseline[efficiency])
    return table


def _cell_estimates(chains: Sequence[NetworkChain], timing: Timing, exact: Timing | None) -> dict[str, Estimate]:
    row = {name: Estimate.over(getattr(chain, name) for chain in chains) for name in _MEANS}
    share = Estimate.over(chain.ess_median / chain.draws for chain in chains)
    own = _seconds_per_iteration(timing)
    row["s_per_iter"] = own
    row["fit_s"] = _training(chains)
    row["sample_s"] = _times(PAPER_ITERATIONS, own)
    row["total_s"] = _total(chains[0].training_draws, own, exact, row["fit_s"])
    row["median_ess_per_s"] = share.per(own)
    row["total_median_ess_per_s"] = _times(PAPER_ITERATIONS, share).per(row["total_s"])
    return row


def _seconds_per_iteration(timing: Timing) -> Estimate:
    return Estimate(timing.s_per_iter, timing.standard_error)


def _training(chains: Sequence[NetworkChain]) -> Estimate:
    """Seconds of the training; NaN for a sampler without a network."""
    return Estimate.over(math.nan if chain.fit_s is None else chain.fit_s for chain in chains)


def _total(trained: int | None, own: Estimate, exact: Timing | None, training: Estimate) -> Estimate:
    """Seconds of all of paper B's iterations, with those of HMC that the network was trained on; NaN without HMC."""
    if trained is None:
        return _times(PAPER_ITERATIONS, own)
    if exact is None:
        return Estimate(math.nan, math.nan)
    parts = [_times(trained, _seconds_per_iteration(exact)), training, _times(PAPER_ITERATIONS - trained, own)]
    return Estimate(sum(part.value for part in parts), math.hypot(*(part.error for part in parts)))


def _times(factor: int, estimate: Estimate) -> Estimate:
    return Estimate(factor * estimate.value, factor * estimate.error)


def _compare(chains: Sequence[NetworkChain], exact: Sequence[NetworkChain], *, level: float) -> dict[str, Any]:
    (mean, mcse), (reference, reference_mcse) = _pooled(chains), _pooled(exact)
    result = compare_means(mean, mcse, reference, reference_mcse, level=level)
    judged = min(sum(chain.ess_min for chain in members) for members in (chains, exact)) >= MIN_ESS
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.abs(mean - reference) / _pooled_sd(exact)
        factors = _pooled_sd(chains) / _pooled_sd(exact)
        spread = np.exp(np.abs(np.log(np.where(factors > 0, factors, np.nan))))
    return {
        "max_abs_z": result.max_abs_z if judged else math.nan,
        "n_coordinates": result.n_coordinates,
        "threshold": result.threshold,
        "agrees": result.agrees if judged else pd.NA,
        "shift": float(np.median(shift)),
        "spread": float(np.median(spread)),
        "chains": len(chains),
        "data": chains[0].origin,
    }


def _pooled(chains: Sequence[NetworkChain]) -> tuple[Array, Array]:
    return pool_means(np.array([chain.mean for chain in chains]), np.array([chain.mcse_mean for chain in chains]))


def _pooled_sd(chains: Sequence[NetworkChain]) -> Array:
    """Standard deviations within chains, as root mean squares over them."""
    sds = np.array([chain.sd for chain in chains])
    return np.asarray(np.sqrt(np.square(sds).mean(axis=0)))
