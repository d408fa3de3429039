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
    """

    problem: str
    sampler: str
    recipe: str
    chain: int
    origin: str
    """Identity of the chain, the recipe of the sampler, and the origin of its data (real, simulated, user or
    stand-in)."""
    hidden_units: int | None
    """Size of the surrogate's network; None for a sampler without one."""
    training_draws: int | None
    """Iterations of exact HMC until the surrogate was trained; None for a sampler without a surrogate."""
    explored: int
    draws: int
    """Number of iterations before the kept draws, and of kept draws."""
    ap: float
    """Share of accepted moves. A rejected proposal repeats the state, so this is paper A's share of distinct states."""
    ap_with_empty: float
    """The same if the number of leapfrog steps, where it is drawn at all, could be 0 as well, and such a trajectory
    were accepted: as paper B's implementation draws and counts."""
    ess: list[float]
    ess_min: float
    ess_median: float
    ess_max: float
    """Effective sample size of each coordinate by Geyer's initial monotone sequence, as paper A counts it, and its
    range; for `rnshmc.sample`, (sd / standard error of the mean)^2."""
    truncated_ess_min: float
    truncated_ess_median: float
    truncated_ess_max: float
    """Range of the effective sample sizes of paper B's implementation (`rnshmc.diagnostics.ess.truncated_ess`)."""
    truncated_ess_with_empty_min: float
    truncated_ess_with_empty_median: float
    truncated_ess_with_empty_max: float
    """The same with trajectories of no step, in which a chain stays where it is, as in `ap_with_empty`."""
    ess_bulk_min: float
    ess_tail_min: float
    """Minimum rank-normalised bulk and tail effective sample sizes of this chain."""
    evaluations_per_iter: float
    """Mean number of calls of the exact potential per kept iteration, for any combination of results. Each is one pass
    over the data, or one factorisation of the system of the partial differential equation."""
    values_per_iter: float
    gradients_per_iter: float
    metrics_per_iter: float
    surrogate_gradients_per_iter: float
    """Means per kept iteration: exact potentials (with or without gradient), exact gradients, exact metrics, gradients
    of the surrogate."""
    divergences: int | None
    solver_failures: int
    """Numbers of kept iterations with these flags; divergences are None where they are not recorded."""
    softened_metrics: int
    """Metrics of the surrogate in the kept iterations that differ from its Hessian, because it was not safely positive
    definite."""
    phases: dict[str, dict[str, Any]]
    """Iterations, wall and processor seconds of each phase of the chain."""
    surrogate: dict[str, Any] | None
    """Record of the fit (`hidden_units`, `train_residual_sd`, ...); None for a sampler without a surrogate."""
    fit_s: float | None
    """Processor seconds of the training; None for a sampler without a surrogate."""
    rem_iteration: list[int]
    rem: list[float]
    """Relative error of the mean of all states from the beginning of the training set to that iteration of the chain;
    empty for a problem without a reference run."""
    mean: list[float]
    sd: list[float]
    mcse_mean: list[float]
    mcse_sd: list[float]
    """Posterior means and standard deviations and the Monte Carlo errors of both, one per coordinate."""
    verdict: str | None
    """Level of the verdict of `rnshmc.sample` (good, doubtful, bad); None for other samplers."""


@dataclass(frozen=True)
class Convergence:
    """Rank-normalised diagnostics over all chains of a sampler, the worst coordinate of each."""

    problem: str
    sampler: str
    """What was run."""
    ess_bulk_min: float
    ess_tail_min: float
    """Minimum bulk and tail effective sample sizes of the pooled chains; NaN where draws are no Markov chains."""
    rhat_max: float | None
    """Maximum split R-hat; None for a single chain, for which it is not defined, where a coordinate never moved, or
    where draws are no Markov chains."""


R = TypeVar("R", ChainMetrics, Convergence)


def write_metrics(path: Path, chains: Iterable[ChainMetrics], convergence: Iterable[Convergence]) -> None:
    """Write the measurements of a problem as JSON."""
    write_json(path, {"chains": list(map(_stored, chains)), "convergence": list(map(_stored, convergence))})


def read_metrics(paths: Iterable[str | Path]) -> list[ChainMetrics]:
    """Read the chains written by `write_metrics` from all files, in their order.

    Raises `StoreError` if a file is missing, is not JSON, or its chains have other keys; the message names the file.
    """
    return [chain for path in paths for chain in _read(Path(path), "chains", ChainMetrics)]


def read_convergence(paths: Iterable[str | Path]) -> list[Convergence]:
    """Read the diagnostics written by `write_metrics`, as `read_metrics` reads the chains."""
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


def read_metrics_frame(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read the scalar numbers of each chain, one row per chain; `data` is the origin of the data."""
    rows = [
        {name: value for name, value in vars(chain).items() if isinstance(value, int | float | str)}
        for chain in read_metrics(paths)
    ]
    return pd.DataFrame(rows).rename(columns={"origin": "data"})
