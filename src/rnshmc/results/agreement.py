"""Agreement of each sampler's posterior with a reference run, or with HMC's."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.agreement import MIN_ESS, compare_means, pool_means
from rnshmc.diagnostics.reference import Reference
from rnshmc.results.estimates import BASELINE, Cell, cells
from rnshmc.results.metrics import ChainMetrics
from rnshmc.types import Array

LEVEL = 0.01
"""Maximum probability of a false alarm in a table, over all of its samplers and coordinates."""
AGREEMENT_COLUMNS = (
    *("problem", "sampler", "against", "max_abs_z", "n_coordinates", "threshold", "agrees", "mixed", "shift"),
    *("spread", "chains", "data"),
)


@dataclass(frozen=True, eq=False)
class Moments:
    """Posterior means and standard deviations with their Monte Carlo errors, all of shape (d,), and the minimum ESS
    over the coordinates."""

    mean: Array
    mcse_mean: Array
    sd: Array
    mcse_sd: Array
    ess_min: float


def agreement_table(
    metrics: Sequence[ChainMetrics], references: Mapping[str, Reference], unmixed: Collection[Cell] = ()
) -> pd.DataFrame:
    """Compare each sampler's posterior with the reference run of its problem, or with HMC's if there is none.

    `max_abs_z`, `threshold` and `agrees` compare the means within Monte Carlo error
    (`rnshmc.diagnostics.agreement.compare_means`, at `LEVEL` divided by the number of rows); if the minimum ESS of
    either is below `MIN_ESS`, the errors are unreliable and `agrees` is missing. `max_abs_z` and `agrees` are also
    missing if `mixed` is false: the chains of the sampler, or the HMC chains it is compared with, did not mix.

    `shift` and `spread` are medians over the coordinates: of the distance of the means in standard deviations of the
    reference, and of the factor, at least 1, by which the standard deviations differ. Both are NaN where HMC never
    moved, and `spread` where the sampler never did. ``unmixed`` are the cells of
    `rnshmc.results.tables.unmixed_cells`. Raises `StoreError` if the chains of a row do not belong together.
    """
    chains = cells(metrics)
    compared_cells = {
        (problem, sampler): "reference" if problem in references else BASELINE
        for problem, sampler in chains
        if problem in references or (sampler != BASELINE and (problem, BASELINE) in chains)
    }
    rows = []
    for (problem, sampler), against in compared_cells.items():
        members = chains[problem, sampler]
        other = _referred(references[problem]) if problem in references else pooled(chains[problem, BASELINE])
        compared = _compare(pooled(members), other, level=LEVEL / len(compared_cells))
        mixed = not {(problem, sampler), (problem, against)} & set(unmixed)
        if not mixed:
            compared |= {"max_abs_z": math.nan, "agrees": pd.NA}
        labels = {"problem": problem, "sampler": sampler, "against": against}
        rows.append({**labels, **compared, "mixed": mixed, "chains": len(members), "data": members[0].origin})
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS)).astype({"agrees": "boolean"})


def _referred(reference: Reference) -> Moments:
    return Moments(reference.mean, reference.mcse_mean, reference.sd, reference.mcse_sd, math.inf)


def pooled(chains: Sequence[ChainMetrics]) -> Moments:
    """Moments over chains; standard deviations within chains, as root mean squares over them."""
    fields = ("mean", "mcse_mean", "sd", "mcse_sd")
    means, mean_errors, sds, sd_errors = (np.array([getattr(chain, name) for chain in chains]) for name in fields)
    return Moments(
        *pool_means(means, mean_errors),
        np.asarray(np.sqrt(np.square(sds).mean(axis=0))),
        pool_means(sds, sd_errors)[1],
        sum(chain.ess_min for chain in chains),
    )


def _compare(ours: Moments, other: Moments, *, level: float) -> dict[str, Any]:
    result = compare_means(ours.mean, ours.mcse_mean, other.mean, other.mcse_mean, level=level)
    judged = min(ours.ess_min, other.ess_min) >= MIN_ESS
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.abs(ours.mean - other.mean) / other.sd
        factors = ours.sd / other.sd
        spread = np.exp(np.abs(np.log(np.where(factors > 0, factors, np.nan))))
    return {
        "max_abs_z": result.max_abs_z,
        "n_coordinates": result.n_coordinates,
        "threshold": result.threshold,
        "agrees": result.agrees if judged else pd.NA,
        "shift": float(np.median(shift)),
        "spread": float(np.median(spread)),
    }
