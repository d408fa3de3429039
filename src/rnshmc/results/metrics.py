"""Measurements on the chains of a problem, stored as JSON; all tables are made of them."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from rnshmc.diagnostics.acceptance import empty_share, with_empty
from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.diagnostics.rem import iteration_grid, relative_error_of_mean
from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import StoreError
from rnshmc.files import write_json
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ChainMetrics:
    """Measurements on the kept draws of one chain. Every field can be written as JSON.

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
        The same if the number of leapfrog steps, where it is drawn at all, could be 0 as well, and such a trajectory
        were accepted: as paper B's implementation draws and counts.
    ess, ess_min, ess_median, ess_max
        Effective sample size of each coordinate by Geyer's initial monotone sequence, as paper A counts it, and its
        range.
    truncated_ess_min, truncated_ess_median, truncated_ess_max
        Range of the effective sample sizes of paper B's implementation (`rnshmc.diagnostics.ess.truncated_ess`).
    truncated_ess_with_empty_min, truncated_ess_with_empty_median, truncated_ess_with_empty_max
        The same with trajectories of no step, in which a chain stays where it is, as in `ap_with_empty`.
    ess_bulk_min, ess_tail_min
        Minimum rank-normalised bulk and tail effective sample sizes of this chain.
    evaluations_per_iter
        Mean number of calls of the exact potential per kept iteration, for any combination of results. Each is one pass
        over the data, or one factorisation of the system of the partial differential equation.
    values_per_iter, gradients_per_iter, metrics_per_iter, surrogate_gradients_per_iter
        Means per kept iteration: exact potentials (with or without gradient), exact gradients, exact metrics, gradients
        of the surrogate.
    divergences, solver_failures
        Numbers of kept iterations with these flags.
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
    mean, sd, mcse_mean
        Posterior means, standard deviations and Monte Carlo errors of the means, one per coordinate.
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
    divergences: int
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


@dataclass(frozen=True)
class Convergence:
    """Rank-normalised diagnostics over all chains of a sampler, the worst coordinate of each.

    Attributes
    ----------
    problem, sampler
        What was run.
    ess_bulk_min, ess_tail_min
        Minimum bulk and tail effective sample sizes of the pooled chains.
    rhat_max
        Maximum split R-hat; None for a single chain, for which it is not defined, or where a coordinate never moved.
    """

    problem: str
    sampler: str
    ess_bulk_min: float
    ess_tail_min: float
    rhat_max: float | None


R = TypeVar("R", ChainMetrics, Convergence)


def write_metrics(path: Path, chains: Iterable[ChainMetrics], convergence: Iterable[Convergence]) -> None:
    """Write the measurements of a problem as JSON."""
    content = {"chains": [asdict(chain) for chain in chains], "convergence": [asdict(row) for row in convergence]}
    write_json(path, content)


def read_metrics(paths: Iterable[str | Path]) -> list[ChainMetrics]:
    """Read the chains written by `write_metrics` from all files, in their order.

    Raises
    ------
    StoreError
        If a file is missing, is not JSON, or its chains have other keys; the message names the file.
    """
    return [chain for path in paths for chain in _read(Path(path), "chains", ChainMetrics)]


def read_convergence(paths: Iterable[str | Path]) -> list[Convergence]:
    """Read the diagnostics written by `write_metrics` from all files, in their order.

    Raises
    ------
    StoreError
        If a file is missing, is not JSON, or its rows have other keys; the message names the file.
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
        yield kind(**row)


def chain_metrics(chain: StoredChain, *, reference_mean: Array | None, discard: int) -> ChainMetrics:
    """Measure one chain.

    Parameters
    ----------
    chain
        Its settings have the keys problem, sampler, recipe, chain, explored and, among ``settings``, n_steps;
        `hidden_units` is looked up in its phase ``fit``.
    reference_mean
        Posterior mean of the reference run, shape (d,); None for a problem without one.
    discard
        First iterations of the exploration, excluded from training sets and running means.
    """
    draws, stats = chain.draws, chain.stats
    explored = 0 if chain.warmup is None else len(chain.warmup)
    fit = chain.phases.get("fit")
    summary = summarise(draws[np.newaxis])
    ap, n_steps = float(stats["accepted"].mean()), chain.settings["settings"]["n_steps"]
    iteration, rem = _running_error(chain, reference_mean, discard)
    return ChainMetrics(
        problem=chain.settings["problem"],
        sampler=chain.settings["sampler"],
        recipe=chain.settings["recipe"],
        chain=int(chain.settings["chain"]),
        origin=chain.origin,
        hidden_units=None if fit is None else fit.get("hidden_units"),
        training_draws=None if fit is None else int(chain.settings["explored"]),
        explored=explored,
        draws=len(draws),
        ap=ap,
        ap_with_empty=with_empty(ap, n_steps),
        **_sizes(draws, empty_share(n_steps)),
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
        surrogate=None if fit is None else dict(fit),
        fit_s=None if fit is None else float(fit["cpu_s"]),
        rem_iteration=iteration.tolist(),
        rem=rem.tolist(),
        mean=draws.mean(axis=0).tolist(),
        # Otherwise it would be rounding error for a coordinate that never moves.
        sd=np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0, ddof=1), 0.0).tolist(),
        mcse_mean=summary.mcse_mean.tolist(),
    )


def convergence(chains: Sequence[StoredChain]) -> Convergence:
    """Diagnose all chains of one sampler on one problem together."""
    settings = chains[0].settings
    summary = summarise(np.stack([chain.draws for chain in chains]))
    rhat = float(summary.rhat.max())
    return Convergence(
        problem=settings["problem"],
        sampler=settings["sampler"],
        ess_bulk_min=float(summary.ess_bulk.min()),
        ess_tail_min=float(summary.ess_tail.min()),
        rhat_max=rhat if math.isfinite(rhat) else None,
    )


def _running_error(chain: StoredChain, reference_mean: Array | None, discard: int) -> tuple[Counts, Array]:
    """Iterations, and the relative error of the mean until each of them."""
    if reference_mean is None:
        return np.empty(0, dtype=np.int64), np.empty(0)
    warmup = chain.draws[:0] if chain.warmup is None else chain.warmup
    states = np.concatenate([warmup[discard:], chain.draws])
    grid = iteration_grid(discard + 1, discard + len(states))
    return grid, relative_error_of_mean(states, reference_mean, grid - discard)


def _sizes(draws: Array, empty: float) -> dict[str, Any]:
    """Effective sample sizes of the coordinates by each definition."""
    geyer = geyer_ess(draws)
    return {
        "ess": geyer.tolist(),
        **_range("ess", geyer),
        **_range("truncated_ess", truncated_ess(draws)),
        **_range("truncated_ess_with_empty", truncated_ess(draws, empty=empty)),
    }


def _range(name: str, ess: Array) -> dict[str, float]:
    return {
        f"{name}_min": float(ess.min()),
        f"{name}_median": float(np.median(ess)),
        f"{name}_max": float(ess.max()),
    }


def metrics_frame(metrics: Iterable[ChainMetrics]) -> pd.DataFrame:
    """The numbers of each chain that are not lists, one row per chain; `data` is the origin of the data."""
    rows = [
        {name: value for name, value in vars(chain).items() if isinstance(value, int | float | str)}
        for chain in metrics
    ]
    return pd.DataFrame(rows).rename(columns={"origin": "data"})


def read_metrics_frame(paths: Iterable[str | Path]) -> pd.DataFrame:
    """`metrics_frame` of the chains in these files."""
    return metrics_frame(read_metrics(paths))
