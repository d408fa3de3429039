"""The tables of a run, made of its chains' metrics and of the timing stage.

Seconds per iteration come from the timing stage alone, which has the machine to itself; everything else comes from the
chains. All of it covers the kept iterations only, as in paper A's Table 1.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.agreement import MIN_ESS, compare_means, pool_means
from rnshmc.diagnostics.reference import Reference
from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import StoreError
from rnshmc.results.estimates import Cell, cells, estimates
from rnshmc.results.metrics import ChainMetrics
from rnshmc.store.timing import Timing
from rnshmc.types import Array

TABLE1_COLUMNS = (
    "problem",
    "sampler",
    "hidden_units",
    "chains",
    "draws",
    "ap",
    "ess_min",
    "ess_median",
    "ess_max",
    "s_per_iter",
    "min_ess_per_s",
    "speedup",
    "values_per_iter",
    "gradients_per_iter",
    "metrics_per_iter",
    "min_ess_per_value",
    "loaded",
    "data",
)


def table1(metrics: Sequence[ChainMetrics], timings: Sequence[Timing]) -> pd.DataFrame:
    """Paper A's Table 1 with counts of evaluations beside the seconds: one row per problem and sampler.

    Columns are means over chains, but `s_per_iter` is the median over the blocks of the timing stage. `min_ess_per_s`
    is ess_min / (draws * s_per_iter); `speedup` is that relative to HMC on the same problem; `min_ess_per_value` is
    ess_min per call of the exact potential (`ChainMetrics.evaluations_per_iter`; a gradient brings its value along);
    `draws` are kept by each chain; `loaded` says that other work kept the machine busy while seconds were measured;
    `data` is the origin of the data.

    Raises
    ------
    StoreError
        If a timing is missing, or the chains of a row differ in data, length or hidden units.
    """
    return _table1(metrics, timings, "value")


def table1_standard_errors(metrics: Sequence[ChainMetrics], timings: Sequence[Timing]) -> pd.DataFrame:
    """Standard errors of `table1`, in the same rows and columns; NaN where there is one chain or one block only.

    They are taken over chains for what is measured on chains and over blocks for `s_per_iter`, and relative errors add
    in quadrature in `min_ess_per_s` and `speedup`. The baseline's speed-up is 1 by definition, without error.
    """
    return _table1(metrics, timings, "error")


def read_table1(path: Path) -> pd.DataFrame:
    """Read `table1`, its standard errors or the published table from a CSV file."""
    return pd.read_csv(path, dtype={"hidden_units": "Int64"})


def _table1(metrics: Sequence[ChainMetrics], timings: Sequence[Timing], part: str) -> pd.DataFrame:
    chains = cells(metrics)
    loaded = {(timing.problem, timing.sampler): timing.loaded for timing in timings}
    rows = [
        {
            **_labels(cell, chains[cell]),
            "loaded": loaded[cell],
            **{name: getattr(estimate, part) for name, estimate in row.items()},
        }
        for cell, row in estimates(metrics, timings).items()
    ]
    return pd.DataFrame(rows).astype({"hidden_units": "Int64"})[list(TABLE1_COLUMNS)]


def _labels(cell: Cell, chains: Sequence[ChainMetrics]) -> dict[str, Any]:
    problem, sampler = cell
    first = chains[0]
    return {
        "problem": problem,
        "sampler": sampler,
        "hidden_units": first.hidden_units,
        "chains": len(chains),
        "draws": first.draws,
        "data": first.origin,
    }


def diagnostics_table(metrics: Sequence[ChainMetrics], draws: Mapping[Cell, Array]) -> pd.DataFrame:
    """Convergence over the chains of each problem and sampler, worst coordinate of each.

    Parameters
    ----------
    metrics
        Of every chain.
    draws
        Kept draws of each (problem, sampler), shape (chains, n, d).
    """
    rows = []
    for cell, chains in cells(metrics).items():
        summary = summarise(draws[cell])
        rows.append(
            {
                "problem": cell[0],
                "sampler": cell[1],
                "ess_bulk_min": summary.ess_bulk.min(),
                "ess_tail_min": summary.ess_tail.min(),
                "rhat_max": summary.rhat.max(),
                "divergences": sum(chain.divergences for chain in chains),
                "solver_failures": sum(chain.solver_failures for chain in chains),
                "softened_metrics": sum(chain.softened_metrics for chain in chains),
                "data": chains[0].origin,
            }
        )
    return pd.DataFrame(rows)


def agreement_table(
    metrics: Sequence[ChainMetrics], references: Mapping[str, Reference], *, level: float = 0.01
) -> pd.DataFrame:
    """Whether the means of each sampler agree with the reference run of its problem, within Monte Carlo error.

    Where a sampler has fewer than `MIN_ESS` effective draws of a coordinate, its errors are not to be relied upon, and
    `agrees` is missing.

    Parameters
    ----------
    metrics
        Of every chain.
    references
        The reference run of each problem.
    level
        Probability of a false alarm in one row at most (`rnshmc.diagnostics.agreement.compare_means`).

    Raises
    ------
    StoreError
        If a problem has no reference.
    """
    rows = []
    for (problem, sampler), chains in cells(metrics).items():
        if problem not in references:
            raise StoreError(f"no reference run of {problem}")
        mean, mcse = pool_means(
            np.array([chain.mean for chain in chains]), np.array([chain.mcse_mean for chain in chains])
        )
        reference = references[problem]
        result = compare_means(mean, mcse, reference.mean, reference.mcse_mean, level=level)
        rows.append(
            {
                "problem": problem,
                "sampler": sampler,
                "max_abs_z": result.max_abs_z,
                "n_coordinates": result.n_coordinates,
                "threshold": result.threshold,
                "agrees": result.agrees if sum(chain.ess_min for chain in chains) >= MIN_ESS else pd.NA,
                "data": chains[0].origin,
            }
        )
    columns = ["problem", "sampler", "max_abs_z", "n_coordinates", "threshold", "agrees", "data"]
    return pd.DataFrame(rows, columns=columns).astype({"agrees": "boolean"})
