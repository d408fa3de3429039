"""Draws of `rnshmc.sample` in the format of the papers' chain files."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import StoreError
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.result.result import Result
from rnshmc.run.chain import STATS_DTYPES
from rnshmc.store.account import Account
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array


def automatic_chain(
    result: Result,
    evaluations: Sequence[Evaluation],
    *,
    settings: Mapping[str, Any],
    cost: Mapping[str, float],
    origin: str,
    provenance: Mapping[str, Any],
) -> StoredChain:
    """The draws of a result, with its report and exact evaluations.

    With a surrogate the draws are `Result.draws`, whose precision is only in the account; without one they are the
    chains in `Result.chains`, concatenated (`rnshmc.store.account.markov_chains`).

    Everything that was evaluated, the way to the mode and the training included, stands with the first draw: sums over
    draws are evaluations in all. ``accepted`` is the same at each draw: the acceptance of the exact Metropolis steps,
    whose proposals were draws of the surrogate where there was one. The potential at the draws is not known.
    ``evaluations`` include those of earlier starts of the job; ``cost`` has ``wall_s``, ``cpu_s`` and ``other_cores``,
    those of other processes meanwhile. Raises `StoreError` if there are no draws.
    """
    if not len(result.draws):
        raise StoreError(f"{settings['sampler']}: no draws to store: {result.outcome.reason}")
    draws, chains = _kept(result)
    n = len(draws)
    stats: dict[str, npt.NDArray[Any]] = {name: np.zeros(n, dtype) for name, dtype in STATS_DTYPES.items()}
    # A gradient and its value are one evaluation; a model without gradients is tried for one at its start only.
    stats["evaluations"][0] = stats["values"][0] = len(evaluations)
    if any(record.differentiated for record in evaluations):
        stats["gradients"][0] = sum(record.with_gradient for record in evaluations)
    acceptance = result.outcome.acceptance
    stats |= {name: np.full(n, acceptance) for name in ("accepted", "accept_prob")}
    stats["potential"] = np.full(n, np.nan)
    account = Account(
        said=str(result),
        verdict=result.verdict.level,
        draws=len(result.draws),
        chains=chains,
        mean=result.mean.value.tolist(),
        sd=result.sd.value.tolist(),
        mcse_mean=result.mean.standard_error.tolist(),
        mcse_sd=result.sd.standard_error.tolist(),
    )
    return StoredChain(
        draws=draws,
        stats=stats,
        settings={**settings, "recipe": settings["sampler"], **account.entry()},
        phases={"sample": {"iterations": len(result.draws), **cost}},
        origin=origin,
        provenance=provenance,
    )


def _kept(result: Result) -> tuple[Array, int]:
    """The draws to store, and the number of Markov chains among them."""
    if result.outcome.surrogate is not None:
        return result.draws, 0
    chains, n, dim = result.chains.shape
    return result.chains.reshape(chains * n, dim), chains
