"""Seconds by number of draws, with a schedule of training and with HMC (paper B, section 3, Fig. 1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.random import stream
from rnshmc.run.fit import fit_gradients
from rnshmc.run.schedule import EXACT, Schedule, Stretch, run_schedule
from rnshmc.types import Array, Driver, Potential

COLUMNS = ("kind", "draws", "acceptance", "seconds", "hmc_seconds")


def schedule_table(
    target: Potential,
    *,
    seed: int,
    start: Array,
    draws: int,
    schedule: Mapping[str, Any],
    dynamics: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> pd.DataFrame:
    """Run a schedule of training on a posterior.

    Columns `COLUMNS`: a row for each stretch of draws by ``hmc`` or ``nng_hmc``, and for each ``training``. Draws and
    seconds are those up to its end, and ``hmc_seconds`` what HMC takes for as many draws, by its seconds per draw in
    the same chain. ``draws`` is the number of all; ``settings`` are keywords of the ``fit`` of the gradient network.
    """

    def train(q: Array, gradients: Array) -> Driver:
        rng = stream(seed, "nng_fig1", "network", f"{len(q)}")
        return fit_gradients(q, gradients, surrogate="gradient_network", settings=settings, rng=rng)

    stretches = run_schedule(
        target,
        Schedule(**schedule),
        train=train,
        start=start,
        iterations=draws,
        rng=stream(seed, "nng_fig1", "chain"),
        dynamics={"step_size": dynamics["step_size"], "n_steps": tuple(dynamics["n_steps"])},
    )
    return as_table(stretches)


def as_table(stretches: list[Stretch]) -> pd.DataFrame:
    """The table of `schedule_table`."""
    exact = [part for part in stretches if part.kind == EXACT]
    per_draw = sum(part.seconds for part in exact) / sum(len(part.draws) for part in exact)
    drawn = np.cumsum([len(part.draws) for part in stretches])
    rows = {
        "kind": [part.kind for part in stretches],
        "draws": drawn,
        "acceptance": [part.acceptance for part in stretches],
        "seconds": np.cumsum([part.seconds for part in stretches]),
        "hmc_seconds": per_draw * drawn,
    }
    return pd.DataFrame(rows)[list(COLUMNS)]
