"""Draws of `rnshmc.sample` as a chain beside those of the papers' samplers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.result.result import Result
from rnshmc.run.chain import STATS_DTYPES
from rnshmc.store.chains import StoredChain

ONE_STEP = [1, 1]
"""The range of leapfrog steps that measurements of chains ask for; it was drawn for none."""


def automatic_chain(
    result: Result,
    evaluations: Sequence[Evaluation],
    *,
    settings: Mapping[str, Any],
    cost: Mapping[str, float],
    origin: str,
    provenance: Mapping[str, Any],
) -> StoredChain:
    """The draws of a result, with the exact evaluations that they took.

    Everything that was evaluated, the way to the mode and the training included, stands with the first draw: means over
    draws are evaluations per draw. ``accepted`` is the same at each draw, the acceptance of the exact Metropolis steps
    whose proposals were draws of the surrogate. The potential at the draws is not known.

    Parameters
    ----------
    result
        What `rnshmc.sample` returned.
    evaluations
        All of its exact evaluations, those of earlier starts of the job included.
    settings
        Problem, sampler, chain, seed, target.
    cost
        ``wall_s``, ``cpu_s`` and ``other_cores``, those of other processes meanwhile.
    origin, provenance
        As in `StoredChain`.
    """
    n = len(result.draws)
    stats: dict[str, npt.NDArray[Any]] = {name: np.zeros(n, dtype) for name, dtype in STATS_DTYPES.items()}
    # A gradient comes with its value, in one evaluation; a model without any is asked for one at its start only.
    stats["evaluations"][0] = stats["values"][0] = len(evaluations)
    if any(record.gradient is not None for record in evaluations):
        stats["gradients"][0] = sum(record.with_gradient for record in evaluations)
    acceptance = result.outcome.acceptance
    stats |= {name: np.full(n, acceptance) for name in ("accepted", "accept_prob")}
    stats["potential"] = np.full(n, np.nan)
    return StoredChain(
        draws=result.draws,
        stats=stats,
        settings={**settings, "recipe": settings["sampler"], "settings": {"n_steps": ONE_STEP}, "said": str(result)},
        phases={"sample": {"iterations": n, **cost}},
        origin=origin,
        provenance=provenance,
    )
