"""What the chains of a sampler tell besides the columns of a paper's table: lengths, counts, agreement, fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rnshmc.report.table_text import fixed, means_text, significant
from rnshmc.results.metrics import ChainMetrics

_QUALITY = {"train_residual_sd": "training residual sd", "train_error": "training error"}


@dataclass(frozen=True)
class Details:
    """Of a sampler on a problem, as text."""

    length: str
    """Numbers of chains and iterations."""
    hidden_units: str
    counts: tuple[str, ...]
    """Exact values, gradients and metrics and surrogate gradients per iteration."""
    ess_per_evaluation: str
    z: str
    threshold: str
    means: str
    """How they compare (`rnshmc.report.table_text.means_text`); a dash if they are compared with nothing."""
    mixed: bool
    """Whether its chains mixed (`rnshmc.results.tables`)."""
    solver_failures: int
    softened_metrics: int
    fit: str


def details(
    results: pd.DataFrame,
    diagnostics: pd.DataFrame,
    agreement: pd.DataFrame,
    chains: Sequence[ChainMetrics],
) -> Details:
    """The details of the sampler and problem of some chains, from tables of the run (`rnshmc.results`)."""
    problem, sampler = chains[0].problem, chains[0].sampler
    ours, diagnosed = (_only(table, problem, sampler) for table in (results, diagnostics))
    return Details(
        length=f"{len(chains)} × ({chains[0].explored} + {chains[0].draws})",
        hidden_units=fixed(0)(ours["hidden_units"]),
        counts=tuple(
            significant(count)
            for count in (
                ours["values_per_iter"],
                ours["gradients_per_iter"],
                ours["metrics_per_iter"],
                sum(chain.surrogate_gradients_per_iter for chain in chains) / len(chains),
            )
        ),
        ess_per_evaluation=significant(ours["min_ess_per_value"]),
        **_agreement(agreement, problem, sampler),
        mixed=bool(ours["mixed"]),
        solver_failures=int(diagnosed["solver_failures"]),
        softened_metrics=int(diagnosed["softened_metrics"]),
        fit=_fit(chains),
    )


def _only(table: pd.DataFrame, problem: str, sampler: str) -> dict[str, Any]:
    row = table[(table["problem"] == problem) & (table["sampler"] == sampler)]
    return {str(column): value for column, value in row.iloc[0].items()}


def _agreement(table: pd.DataFrame, problem: str, sampler: str) -> dict[str, Any]:
    """The comparison of a sampler's means; dashes for one that is compared with nothing, as HMC is with itself."""
    if table[(table["problem"] == problem) & (table["sampler"] == sampler)].empty:
        return {"z": "–", "threshold": "–", "means": "–"}
    row = _only(table, problem, sampler)
    return {
        "z": fixed(2)(row["max_abs_z"]),
        "threshold": fixed(2)(row["threshold"]),
        "means": means_text(row["agrees"], mixed=bool(row["mixed"])),
    }


def _fit(chains: Sequence[ChainMetrics]) -> str:
    """A sentence about the surrogates of these chains; empty if the exact potential drives."""
    fits = [(chain.surrogate, chain.phases["fit"]) for chain in chains if chain.surrogate is not None]
    if not fits:
        return ""
    # A network of gradients has no residual of the potential, but an error of the gradient, in standard deviations.
    key = "train_residual_sd" if "train_residual_sd" in fits[0][0] else "train_error"
    residuals = [surrogate[key] for surrogate, _ in fits]
    seconds = [phase["cpu_s"] for _, phase in fits]
    units = fits[0][0].get("hidden_units")
    return (
        f"{units} hidden units, fitted in {significant(min(seconds), 2)}–{significant(max(seconds), 2)} s, "
        f"{_QUALITY[key]} {significant(min(residuals), 2)}–{significant(max(residuals), 2)}"
    )
