"""Measurements on chain files: Markov chains, and draws of `rnshmc.sample`."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.diagnostics.acceptance import empty_share, with_empty
from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.diagnostics.rem import iteration_grid, relative_error_of_mean
from rnshmc.diagnostics.summary import summarise
from rnshmc.results.metrics import ChainMetrics, Convergence
from rnshmc.store.account import Account, markov_chains
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array

Counts = npt.NDArray[np.int64]


def chain_metrics(chain: StoredChain, *, reference_mean: Array | None, discard: int) -> ChainMetrics:
    """Measure one chain file.

    The draws of `rnshmc.sample` are no Markov chain with a surrogate, and several without. Their effective sample size
    is (sd / standard error of the mean)^2 in each coordinate, by what `rnshmc.sample` reports or over its chains. Blank
    are what the papers' implementations count along one chain (``truncated_ess_*``, ``ap_with_empty``, ``rem``), bulk
    and tail ESS with a surrogate, and what is not recorded: divergences and gradients of the surrogate.
    ``reference_mean``, shape (d,), is None for a problem without a reference run; the first ``discard`` iterations of
    the exploration are in no training set and no running mean.
    """
    account = Account.of(chain)
    draws = len(chain.draws) if account is None else account.draws
    measured = _of_chain(chain, reference_mean, discard) if account is None else _of_account(chain, account)
    stats, fit = chain.stats, chain.phases.get("fit")
    return ChainMetrics(
        problem=chain.settings["problem"],
        sampler=chain.settings["sampler"],
        recipe=chain.settings["recipe"],
        chain=int(chain.settings["chain"]),
        origin=chain.origin,
        hidden_units=None if fit is None else fit.get("hidden_units"),
        training_draws=None if fit is None else int(chain.settings["explored"]),
        explored=0 if chain.warmup is None else len(chain.warmup),
        draws=draws,
        ap=float(stats["accepted"].mean()),
        evaluations_per_iter=float(stats["evaluations"].sum() / draws),
        values_per_iter=float(stats["values"].sum() / draws),
        gradients_per_iter=float(stats["gradients"].sum() / draws),
        metrics_per_iter=float(stats["metrics"].sum() / draws),
        solver_failures=int(stats["solver_failed"].sum()),
        softened_metrics=int(stats["softened_metrics"].sum()),
        phases={name: dict(phase) for name, phase in chain.phases.items()},
        surrogate=None if fit is None else dict(fit),
        fit_s=None if fit is None else float(fit["cpu_s"]),
        verdict=None if account is None else account.verdict,
        **measured,
    )


def convergence(chains: Sequence[StoredChain]) -> Convergence:
    """Diagnose all Markov chains of one sampler on one problem together; blank if a file has none."""
    settings = chains[0].settings
    parts = [markov_chains(chain) for chain in chains]
    if not all(map(len, parts)):
        return Convergence(settings["problem"], settings["sampler"], math.nan, math.nan, None)
    length = min(part.shape[1] for part in parts)
    summary = summarise(np.concatenate([part[:, :length] for part in parts]))
    rhat = float(summary.rhat.max())
    return Convergence(
        problem=settings["problem"],
        sampler=settings["sampler"],
        ess_bulk_min=float(summary.ess_bulk.min()),
        ess_tail_min=float(summary.ess_tail.min()),
        rhat_max=rhat if math.isfinite(rhat) else None,
    )


def _of_chain(chain: StoredChain, reference_mean: Array | None, discard: int) -> dict[str, Any]:
    """Measurements along a single Markov chain."""
    n_steps, iteration_error = chain.settings["settings"]["n_steps"], _running_error(chain, reference_mean, discard)
    empty, geyer = empty_share(n_steps), geyer_ess(chain.draws)
    return {
        "ap_with_empty": with_empty(float(chain.stats["accepted"].mean()), n_steps),
        "ess": geyer.tolist(),
        **_range("ess", geyer),
        **_range("truncated_ess", truncated_ess(chain.draws)),
        **_range("truncated_ess_with_empty", truncated_ess(chain.draws, empty=empty)),
        "surrogate_gradients_per_iter": float(chain.stats["surrogate_gradients"].mean()),
        "divergences": int(chain.stats["diverging"].sum()),
        **dict(zip(("rem_iteration", "rem"), (part.tolist() for part in iteration_error), strict=True)),
        **_moments(chain.draws[None]),
    }


def _of_account(chain: StoredChain, account: Account) -> dict[str, Any]:
    """Measurements on draws of `rnshmc.sample`."""
    moments = _moments(markov_chains(chain)) if account.chains else _reported(account)
    sd, error = np.array(moments["sd"]), np.array(moments["mcse_mean"])
    # A coordinate that never moves is one draw repeated.
    ess = np.where(sd > 0, (sd / np.where(error > 0, error, math.nan)) ** 2, 1.0)
    unknown = np.array([math.nan])
    return {
        "ap_with_empty": math.nan,
        "ess": ess.tolist(),
        **_range("ess", ess),
        **_range("truncated_ess", unknown),
        **_range("truncated_ess_with_empty", unknown),
        "surrogate_gradients_per_iter": math.nan,
        "divergences": None,
        "rem_iteration": [],
        "rem": [],
        **moments,
    }


def _moments(chains: Array) -> dict[str, Any]:
    """Moments of Markov chains, shape (chains, n, d), with their errors and effective sample sizes."""
    summary, draws = summarise(chains), chains.reshape(-1, chains.shape[2])
    # Otherwise the standard deviation of a coordinate that never moves would be rounding error.
    sd = np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0, ddof=1), 0.0)
    return {
        "mean": draws.mean(axis=0).tolist(),
        "sd": sd.tolist(),
        "mcse_mean": summary.mcse_mean.tolist(),
        "mcse_sd": summary.mcse_sd.tolist(),
        "ess_bulk_min": float(summary.ess_bulk.min()),
        "ess_tail_min": float(summary.ess_tail.min()),
    }


def _reported(account: Account) -> dict[str, Any]:
    """Moments that `rnshmc.sample` reports; its draws are not Markov chains."""
    return {
        "mean": account.mean,
        "sd": account.sd,
        "mcse_mean": account.mcse_mean,
        "mcse_sd": account.mcse_sd,
        "ess_bulk_min": math.nan,
        "ess_tail_min": math.nan,
    }


def _running_error(chain: StoredChain, reference_mean: Array | None, discard: int) -> tuple[Counts, Array]:
    """Iterations, and the relative error of the mean up to each."""
    if reference_mean is None:
        return np.empty(0, dtype=np.int64), np.empty(0)
    warmup = chain.draws[:0] if chain.warmup is None else chain.warmup
    states = np.concatenate([warmup[discard:], chain.draws])
    grid = iteration_grid(discard + 1, discard + len(states))
    return grid, relative_error_of_mean(states, reference_mean, grid - discard)


def _range(name: str, ess: Array) -> dict[str, float]:
    return {
        f"{name}_min": float(ess.min()),
        f"{name}_median": float(np.median(ess)),
        f"{name}_max": float(ess.max()),
    }
