"""The tables of a run, from the metrics of its chains and from the timing stage.

Seconds per iteration come from the timing stage alone, which has the machine to itself; everything else comes from the
chains. All of it covers the kept iterations only, as in the papers' tables, which are views of `results_tables`.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.errors import StoreError
from rnshmc.results.estimates import MEANS, SPEEDUPS, Cell, cells, estimates
from rnshmc.results.metrics import ChainMetrics, Convergence
from rnshmc.store.timing import Timing

RESULTS_COLUMNS = (
    *("paper", "problem", "sampler", "recipe", "hidden_units", "training_draws", "chains", "draws"),
    *MEANS,
    *("s_per_iter", "fit_s", "sample_s", "total_s", "min_ess_per_s", "median_ess_per_s"),
    *("median_ess_per_s_with_training", "min_ess_per_value"),
    *SPEEDUPS,
    *("published_s_per_iter", "published_total_s"),
    *(f"published_{name}" for name in SPEEDUPS),
    *("mixed", "loaded", "data"),
)
_COUNTS = {"hidden_units": "Int64", "training_draws": "Int64"}
MAX_RHAT = 1.01
"""Largest R-hat of chains that have mixed (Vehtari et al. 2021)."""
MIN_ESS_PER_CHAIN = 100
"""Minimum ESS per chain for reliable diagnostics (Vehtari et al. 2021)."""


def results_tables(
    metrics: Sequence[ChainMetrics],
    timings: Sequence[Timing],
    papers: Mapping[str, str],
    unmixed: Collection[Cell] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every number of a run, one row per problem and sampler, in the columns `RESULTS_COLUMNS`, and standard errors.

    Acceptance, effective sample sizes, calls per iteration (`ChainMetrics`) and `fit_s`, the processor seconds of the
    training, are means over chains. `s_per_iter` is the median over the blocks of the timing stage. `training_draws`
    are the iterations of exact HMC before the training. With `rnshmc.sample` all evaluations and seconds are divided
    among its draws; columns that count along one Markov chain, `sample_s` and `total_s` are NaN.

    `sample_s` are the seconds of 10000 iterations. `total_s` includes the start: `training_draws` of HMC, the training,
    and the rest of the 10000 iterations. `median_ess_per_s_with_training` divides the effective draws of 10000
    iterations by `total_s`; each speed-up is an efficiency relative to HMC on the same problem. `published_*` use the
    problem's ``baseline``: samplers are timed like the published implementation; those that the baseline omits keep
    their own seconds. Without a baseline all are NaN.

    `mixed` is false for a sampler among `unmixed` (`unmixed_cells`), which has no speed-up; nor has any sampler where
    that is HMC. `paper`, from `papers`, is empty for a user's problem. Raises `StoreError` if a timing is missing, or
    the chains of a row differ in data, length, recipe, hidden units or training draws.

    Standard errors, in the same rows and columns, are taken over chains, for `s_per_iter` over blocks, and are NaN for
    a single one; errors of sums, and relative errors of ratios, add in quadrature.
    """
    loaded = {(timing.problem, timing.sampler): timing.loaded for timing in timings}
    found = estimates(metrics, timings, unmixed)
    labels = {
        # All chains of a cell have the same origin, draws, recipe, hidden units and training draws.
        cell: {
            **vars(chains[0]),
            "chains": len(chains),
            "data": chains[0].origin,
            "paper": papers.get(cell[0], ""),
            "mixed": cell not in unmixed,
        }
        for cell, chains in cells(metrics).items()
    }
    values, errors = (
        [
            {**labels[cell], "loaded": loaded[cell], **{name: getattr(number, part) for name, number in row.items()}}
            for cell, row in found.items()
        ]
        for part in ("value", "error")
    )
    return _table(values), _table(errors)


def _table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(RESULTS_COLUMNS)).astype(_COUNTS)


def read_results(path: Path) -> pd.DataFrame:
    """Read one of `results_tables` from a CSV file."""
    return pd.read_csv(path, dtype=_COUNTS)


def diagnostics_table(metrics: Sequence[ChainMetrics], convergence: Iterable[Convergence]) -> pd.DataFrame:
    """Convergence over the chains of each problem and sampler, worst coordinate of each.

    `warnings` names in words: R-hat above `MAX_RHAT`, fewer than `MIN_ESS_PER_CHAIN` effective draws per chain (bulk or
    tail; of those in `ChainMetrics.ess_min` where both are undefined), divergences, failed solves, and verdicts of
    `rnshmc.sample` other than good; it is empty if there are none. `divergences` are missing where they are not
    recorded.
    """
    diagnosed = {(row.problem, row.sampler): row for row in convergence}
    rows = [_diagnosed(chains, diagnosed[cell]) for cell, chains in cells(metrics).items()]
    return pd.DataFrame(rows).astype({"divergences": "Int64"})


def _diagnosed(chains: Sequence[ChainMetrics], pooled: Convergence) -> dict[str, Any]:
    row: dict[str, Any] = {
        "problem": pooled.problem,
        "sampler": pooled.sampler,
        "chains": len(chains),
        "ess_bulk_min": pooled.ess_bulk_min,
        "ess_tail_min": pooled.ess_tail_min,
        "rhat_max": pooled.rhat_max,
        "divergences": _divergences(chains),
        "solver_failures": sum(chain.solver_failures for chain in chains),
        "softened_metrics": sum(chain.softened_metrics for chain in chains),
    }
    return {**row, "warnings": "; ".join(_warnings(row, chains)), "data": chains[0].origin}


def _divergences(chains: Sequence[ChainMetrics]) -> int | None:
    """Number of divergences over all chains; None if not recorded."""
    counts = [chain.divergences for chain in chains if chain.divergences is not None]
    return sum(counts) if counts else None


def _warnings(row: Mapping[str, Any], chains: Sequence[ChainMetrics]) -> list[str]:
    rhat, enough = row["rhat_max"], MIN_ESS_PER_CHAIN * len(chains)
    sizes = {f"{name} ESS": row[f"ess_{name}_min"] for name in ("bulk", "tail")}
    if math.isnan(row["ess_bulk_min"]):
        sizes = {"ESS": sum(chain.ess_min for chain in chains)}
    verdicts = Counter(chain.verdict for chain in chains if chain.verdict not in (None, "good"))
    return [
        *(f"verdict {level} on {count} of {len(chains)}" for level, count in sorted(verdicts.items())),
        *([f"R-hat {rhat:.3f}"] if rhat is not None and rhat > MAX_RHAT else []),
        *(f"{name} {size:.0f} of {enough}" for name, size in sizes.items() if not size >= enough),
        *([f"{row['divergences']} divergences"] if row["divergences"] else []),
        *([f"{row['solver_failures']} failed solves"] if row["solver_failures"] else []),
    ]


MIXED_RHAT = 1.1
"""Largest R-hat of chains that are compared with others (Gelman et al. 2013, Bayesian Data Analysis, section 11.5)."""


def unmixed_cells(metrics: Sequence[ChainMetrics], convergence: Iterable[Convergence]) -> frozenset[Cell]:
    """Problems and samplers with an R-hat above `MIXED_RHAT`, or with a chain in which a coordinate never moved."""
    apart = {(row.problem, row.sampler) for row in convergence if (row.rhat_max or 0.0) > MIXED_RHAT}
    return frozenset(apart | {(chain.problem, chain.sampler) for chain in metrics if 0.0 in chain.sd})


MATCHING_COLUMNS = (
    *("problem", "surrogate", "chain", "train_residual_sd", "variance", "potential_variance", "share", "states"),
    "data",
)


def matching_table(paths: Iterable[Path]) -> pd.DataFrame:
    """Potential matching of every fit: one row for each problem, surrogate and chain.

    `variance` is Var(V - U) over held-out states, `potential_variance` is Var(U) there, and `share` is their ratio: the
    fraction of the potential's variance not captured by the surrogate. Raises `StoreError` if a file is missing, is not
    JSON, or lacks a key.
    """
    return pd.DataFrame([_read(path) for path in paths], columns=list(MATCHING_COLUMNS))


def _read(path: Path) -> dict[str, object]:
    try:
        matching = json.loads(path.read_text(encoding="utf-8"))
        return {
            **{name: matching[name] for name in MATCHING_COLUMNS if name not in ("share", "data")},
            "share": matching["variance"] / matching["potential_variance"],
            "data": matching["origin"],
        }
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"{path}: cannot read potential matching: {error!r}") from error
