"""Measurements on the chains of a problem, stored as JSON; the source of all tables."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from rnshmc.errors import StoreError
from rnshmc.files import write_json


@dataclass(frozen=True)
class ChainMetrics:
    """Measurements on the kept draws of one chain file.

    NaN marks numbers that cannot be measured (null in JSON). `rnshmc.results.measure.chain_metrics` chooses the draws.

    Attributes
    ----------
    problem, sampler, recipe, chain, origin
        Identity of the chain, the recipe of the sampler, and the origin of its data (real, simulated, user or
        stand-in).
    hidden_units
        Size of the surrogate's network; None for a sampler without one.
    training_draws
        Iterations of exact HMC until the surrogate was trained; None for a sampler without a surrogate.
    explored, draws
        Number of iterations before the kept draws, and of kept draws.
    ap
        Share of accepted moves. A rejected proposal repeats the state, so this is paper A's share of distinct states.
    ap_with_empty
        The same including trajectories of zero steps, which paper B's implementation also draws, if the number of steps
        is random, and counts as accepted.
    ess, ess_min, ess_median, ess_max
        Effective sample size of each coordinate by Geyer's initial monotone sequence, as in paper A, and its range; for
        `rnshmc.sample`, (sd / standard error of the mean)^2.
    truncated_ess_min, truncated_ess_median, truncated_ess_max
        Range of the effective sample sizes of paper B's implementation (`rnshmc.diagnostics.ess.truncated_ess`).
    truncated_ess_with_empty_min, truncated_ess_with_empty_median, truncated_ess_with_empty_max
        The same with trajectories of zero steps, in which a chain stays in place, as in `ap_with_empty`.
    ess_bulk_min, ess_tail_min
        Minimum rank-normalised bulk and tail effective sample sizes of this chain.
    evaluations_per_iter
        Mean number of calls of the exact potential per kept iteration, for any combination of results. Each is one pass
        over the data, or one factorisation of the system of the partial differential equation.
    values_per_iter, gradients_per_iter, metrics_per_iter, surrogate_gradients_per_iter
        Means per kept iteration: exact potentials (with or without gradient), exact gradients, exact metrics, gradients
        of the surrogate.
    divergences, solver_failures
        Numbers of kept iterations with these flags; divergences are None if not recorded.
    softened_metrics
        Metrics of the surrogate in the kept iterations that differ from its Hessian, because it was not safely positive
        definite.
    phases
        Iterations, wall and processor seconds of each phase of the chain.
    surrogate
        Record of the fit (`hidden_units`, `train_residual_sd`, ...); None for a sampler without a surrogate.
    fit_s
        Processor seconds of the training; None for a sampler without a surrogate.
    rem_iteration, rem
        Relative error of the mean of all states from the beginning of the training set to that iteration of the chain;
        empty for a problem without a reference run.
    mean, sd, mcse_mean, mcse_sd
        Posterior means and standard deviations and the Monte Carlo errors of both, one per coordinate.
    verdict
        Level of the verdict of `rnshmc.sample` (good, doubtful, bad); None for other samplers.
    """

    problem: str
    sampler: str
    recipe: str
    chain: int
    origin: str
    hidden_units: int | None
    training_draws: int | None
    explored: int
    draws: int
    ap: float
    ap_with_empty: float
    ess: list[float]
    ess_min: float
    ess_median: float
    ess_max: float
    truncated_ess_min: float
    truncated_ess_median: float
    truncated_ess_max: float
    truncated_ess_with_empty_min: float
    truncated_ess_with_empty_median: float
    truncated_ess_with_empty_max: float
    ess_bulk_min: float
    ess_tail_min: float
    evaluations_per_iter: float
    values_per_iter: float
    gradients_per_iter: float
    metrics_per_iter: float
    surrogate_gradients_per_iter: float
    divergences: int | None
    solver_failures: int
    softened_metrics: int
    phases: dict[str, dict[str, Any]]
    surrogate: dict[str, Any] | None
    fit_s: float | None
    rem_iteration: list[int]
    rem: list[float]
    mean: list[float]
    sd: list[float]
    mcse_mean: list[float]
    mcse_sd: list[float]
    verdict: str | None


@dataclass(frozen=True)
class Convergence:
    """Rank-normalised diagnostics over all chains of a sampler, each for its worst coordinate.

    Attributes
    ----------
    problem, sampler
        What was run.
    ess_bulk_min, ess_tail_min
        Minimum bulk and tail effective sample sizes of the pooled chains; NaN if the draws are not Markov chains.
    rhat_max
        Maximum split R-hat; None if it is undefined: for a single chain, if a coordinate never moved, or if the draws
        are not Markov chains.
    """

    problem: str
    sampler: str
    ess_bulk_min: float
    ess_tail_min: float
    rhat_max: float | None


R = TypeVar("R", ChainMetrics, Convergence)


def write_metrics(path: Path, chains: Iterable[ChainMetrics], convergence: Iterable[Convergence]) -> None:
    """Write the measurements of a problem as JSON."""
    write_json(path, {"chains": list(map(_stored, chains)), "convergence": list(map(_stored, convergence))})


def read_metrics(paths: Iterable[str | Path]) -> list[ChainMetrics]:
    """Read the chains written by `write_metrics` from all files, in their order.

    Raises
    ------
    StoreError
        If a file is missing or not JSON, or a chain lacks a key or has an unknown one; the message names the file.
    """
    return [chain for path in paths for chain in _read(Path(path), "chains", ChainMetrics)]


def read_convergence(paths: Iterable[str | Path]) -> list[Convergence]:
    """Read the diagnostics written by `write_metrics` from all files, in their order.

    Raises
    ------
    StoreError
        If a file is missing or not JSON, or a row lacks a key or has an unknown one; the message names the file.
    """
    return [row for path in paths for row in _read(Path(path), "convergence", Convergence)]


def _read(path: Path, part: str, kind: type[R]) -> Iterator[R]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))[part]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: cannot read metrics: {error!r}") from error
    for row in content:
        odd = {field.name for field in fields(kind)} ^ set(row)
        if odd:
            raise StoreError(f"{path}: missing or unknown keys: {', '.join(sorted(odd))}")
        yield kind(**{field.name: _with_nan(row[field.name], field.type) for field in fields(kind)})


def _stored(row: ChainMetrics | Convergence) -> dict[str, Any]:
    return {name: _without_nan(value) for name, value in asdict(row).items()}


def _without_nan(value: Any) -> Any:
    """The value with None, null in JSON, for each NaN."""
    if isinstance(value, list):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_nan(value: Any, kind: Any) -> Any:
    """The value with NaN for None, in fields that are numbers or lists of numbers."""
    if kind == list[float]:
        return [_with_nan(entry, float) for entry in value]
    return math.nan if kind is float and value is None else value


def metrics_frame(metrics: Iterable[ChainMetrics]) -> pd.DataFrame:
    """The scalar numbers of each chain, one row per chain; `data` is the origin of the data."""
    rows = [
        {name: value for name, value in vars(chain).items() if isinstance(value, int | float | str)}
        for chain in metrics
    ]
    return pd.DataFrame(rows).rename(columns={"origin": "data"})


def read_metrics_frame(paths: Iterable[str | Path]) -> pd.DataFrame:
    """`metrics_frame` of the chains in these files."""
    return metrics_frame(read_metrics(paths))
