"""What paper B's tables need to know of one chain."""

from dataclasses import dataclass

import numpy as np

from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.diagnostics.summary import summarise
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class NetworkChain:
    """Measurements on the kept draws of one chain.

    Attributes
    ----------
    problem, sampler, chain, origin
        What was run, and whether its data are real, simulated, a user's or a stand-in.
    recipe
        The recipe of which the sampler is a variant.
    training_draws
        Iterations of exact HMC until the network was trained; None for a sampler without one.
    draws
        Number of kept draws.
    ap
        Share of accepted moves.
    ess_min, ess_median, ess_max
        Range of Geyer's effective sample size over the coordinates (`rnshmc.diagnostics.ess.geyer_ess`).
    truncated_ess_min, truncated_ess_median, truncated_ess_max
        The same of the published implementation (`rnshmc.diagnostics.ess.truncated_ess`).
    values_per_iter, gradients_per_iter
        Calls of the exact potential, and of its gradient, per kept iteration.
    fit_s
        Processor seconds of the training; None for a sampler without a network.
    mean, sd, mcse_mean
        Posterior means, standard deviations and Monte Carlo errors of the means, shape (d,).
    """

    problem: str
    sampler: str
    chain: int
    origin: str
    recipe: str
    training_draws: int | None
    draws: int
    ap: float
    ess_min: float
    ess_median: float
    ess_max: float
    truncated_ess_min: float
    truncated_ess_median: float
    truncated_ess_max: float
    values_per_iter: float
    gradients_per_iter: float
    fit_s: float | None
    mean: Array
    sd: Array
    mcse_mean: Array


def network_chain(chain: StoredChain) -> NetworkChain:
    """Measure one chain, whose settings have the keys problem, sampler, recipe, chain and explored."""
    draws = chain.draws
    fit = chain.phases.get("fit")
    return NetworkChain(
        problem=chain.settings["problem"],
        sampler=chain.settings["sampler"],
        chain=int(chain.settings["chain"]),
        origin=chain.origin,
        recipe=chain.settings["recipe"],
        training_draws=None if fit is None else int(chain.settings["explored"]),
        draws=len(draws),
        ap=float(chain.stats["accepted"].mean()),
        **_range("ess", geyer_ess(draws)),
        **_range("truncated_ess", truncated_ess(draws)),
        values_per_iter=float(chain.stats["values"].mean()),
        gradients_per_iter=float(chain.stats["gradients"].mean()),
        fit_s=None if fit is None else float(fit["cpu_s"]),
        mean=draws.mean(axis=0),
        # Of a coordinate that never moves it is rounding error otherwise.
        sd=np.where(np.ptp(draws, axis=0) > 0, draws.std(axis=0, ddof=1), 0.0),
        mcse_mean=summarise(draws[np.newaxis]).mcse_mean,
    )


def _range(name: str, ess: Array) -> dict[str, float]:
    return {
        f"{name}_min": float(ess.min()),
        f"{name}_median": float(np.median(ess)),
        f"{name}_max": float(ess.max()),
    }
