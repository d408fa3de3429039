"""What is measured on the chains of a problem: the JSON that every table is made of."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.diagnostics.rem import iteration_grid, relative_error_of_mean
from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import StoreError
from rnshmc.files import write_json
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array


@dataclass(frozen=True)
class ChainMetrics:
    """Measurements on the kept draws of one chain. Every field is one that JSON has.

    Attributes
    ----------
    problem, sampler, chain, origin
        What was run, and whether its data are real, simulated, a user's or a stand-in.
    hidden_units
        Size of the random network; None for a sampler without one.
    explored, draws
        Number of iterations before the kept draws, and of kept draws.
    ap
        Share of accepted moves. A rejected proposal repeats the state, so this is paper A's share of distinct states.
    ess, ess_min, ess_median, ess_max
        Geyer's effective sample size of each coordinate, as paper A counts it, and its range.
    ess_bulk_min, ess_tail_min
        The smallest rank-normalised bulk and tail effective sample sizes of this chain.
    evaluations_per_iter
        Mean number of calls of the exact potential per kept iteration, whatever was asked for. Each goes once through
        the data, or factorises the system of the partial differential equation once.
    values_per_iter, gradients_per_iter, metrics_per_iter, surrogate_gradients_per_iter
        Means per kept iteration: exact potentials (whether or not the gradient came along), exact gradients, exact
        metrics, gradients of the surrogate.
    divergences, solver_failures
        Kept iterations that were flagged so.
    softened_metrics
        Metrics of the surrogate in the kept iterations that were not its Hessian, since that was not safely positive
        definite.
    phases
        Iterations, wall and processor seconds of each phase of the chain.
    surrogate
        What is known of the fit (`hidden_units`, `train_residual_sd`, ...); None for a sampler without a surrogate.
    rem_iteration, rem
        Relative error of the mean of all states from the beginning of the training set to that iteration of the chain.
    mean, sd, mcse_mean
        Posterior means, standard deviations and Monte Carlo errors of the means, one per coordinate.
    """

    problem: str
    sampler: str
    chain: int
    origin: str
    hidden_units: int | None
    explored: int
    draws: int
    ap: float
    ess: list[float]
    ess_min: float
    ess_median: float
    ess_max: float
    ess_bulk_min: float
    ess_tail_min: float
    evaluations_per_iter: float
    values_per_iter: float
    gradients_per_iter: float
    metrics_per_iter: float
    surrogate_gradients_per_iter: float
    divergences: int
    solver_failures: int
    softened_metrics: int
    phases: dict[str, dict[str, Any]]
    surrogate: dict[str, Any] | None
    rem_iteration: list[int]
    rem: list[float]
    mean: list[float]
    sd: list[float]
    mcse_mean: list[float]


def write_metrics(path: Path, metrics: Iterable[ChainMetrics]) -> None:
    """Write the measurements of chains as JSON."""
    write_json(path, [asdict(chain) for chain in metrics])


def read_metrics(paths: Iterable[str | Path]) -> list[ChainMetrics]:
    """Read what `write_metrics` wrote, the chains of all files one after another.

    Raises
    ------
    StoreError
        If a file is missing, is not JSON, or its chains have other keys; the message names the file.
    """
    return [chain for path in paths for chain in _read_file(Path(path))]


def _read_file(path: Path) -> Iterator[ChainMetrics]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot read metrics: {error}") from error
    for chain in content:
        odd = {field.name for field in fields(ChainMetrics)} ^ set(chain)
        if odd:
            raise StoreError(f"{path}: missing or unknown keys: {', '.join(sorted(odd))}")
        yield ChainMetrics(**chain)


def chain_metrics(chain: StoredChain, *, reference_mean: Array, discard: int) -> ChainMetrics:
    """Measure one chain.

    Parameters
    ----------
    chain
        Its settings have the keys problem, sampler and chain; `hidden_units` is looked up in its phase ``fit``.
    reference_mean
        Posterior mean of the reference run, shape (d,).
    discard
        First iterations of the exploration, which no training set and no running mean has.
    """
    draws, stats = chain.draws, chain.stats
    warmup = draws[:0] if chain.warmup is None else chain.warmup
    surrogate = chain.phases.get("fit")
    ess = geyer_ess(draws)
    summary = summarise(draws[np.newaxis])
    states = np.concatenate([warmup[discard:], draws])
    grid = iteration_grid(discard + 1, discard + len(states))
    return ChainMetrics(
        problem=chain.settings["problem"],
        sampler=chain.settings["sampler"],
        chain=int(chain.settings["chain"]),
        origin=chain.origin,
        hidden_units=None if surrogate is None else surrogate.get("hidden_units"),
        explored=len(warmup),
        draws=len(draws),
        ap=float(stats["accepted"].mean()),
        ess=ess.tolist(),
        ess_min=float(ess.min()),
        ess_median=float(np.median(ess)),
        ess_max=float(ess.max()),
        ess_bulk_min=float(summary.ess_bulk.min()),
        ess_tail_min=float(summary.ess_tail.min()),
        evaluations_per_iter=float(stats["evaluations"].mean()),
        values_per_iter=float(stats["values"].mean()),
        gradients_per_iter=float(stats["gradients"].mean()),
        metrics_per_iter=float(stats["metrics"].mean()),
        surrogate_gradients_per_iter=float(stats["surrogate_gradients"].mean()),
        divergences=int(stats["diverging"].sum()),
        solver_failures=int(stats["solver_failed"].sum()),
        softened_metrics=int(stats["softened_metrics"].sum()),
        phases={name: dict(phase) for name, phase in chain.phases.items()},
        surrogate=None if surrogate is None else dict(surrogate),
        rem_iteration=grid.tolist(),
        rem=relative_error_of_mean(states, reference_mean, grid - discard).tolist(),
        mean=draws.mean(axis=0).tolist(),
        sd=draws.std(axis=0, ddof=1).tolist(),
        mcse_mean=summary.mcse_mean.tolist(),
    )


def metrics_frame(metrics: Iterable[ChainMetrics]) -> pd.DataFrame:
    """The numbers of each chain that are not lists, one row per chain; `data` is the origin of the data."""
    rows = [
        {name: value for name, value in vars(chain).items() if isinstance(value, int | float | str)}
        for chain in metrics
    ]
    return pd.DataFrame(rows).rename(columns={"origin": "data"})


def read_metrics_frame(paths: Iterable[str | Path]) -> pd.DataFrame:
    """`metrics_frame` of what `read_metrics` reads."""
    return metrics_frame(read_metrics(paths))
