"""Acceptance on a9a projected to more or fewer columns: what a higher dimension costs (paper A, section 5.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.project import project
from rnshmc.random import stream
from rnshmc.run.sample import sample
from rnshmc.targets.logistic import LogisticRegression

COLUMNS = ("d", "repeat", "sampler", "ap", "data")


def acceptance_by_dimension(
    data: LogisticData,
    *,
    dimensions: Sequence[int],
    repeats: int,
    prior_sd: float,
    discard: int,
    seed: int,
    settings: Mapping[str, Any],
) -> pd.DataFrame:
    """Project data at random to several dimensions, explore each posterior by HMC, and go on by RNS-HMC.

    Parameters
    ----------
    data
        Encoded data, neither projected nor standardised.
    dimensions
        Columns after the projection, the intercept among them.
    repeats
        Projections to each dimension.
    prior_sd
        Standard deviation of the prior of each coefficient.
    discard
        First iterations of an exploration, which are neither trained on nor counted.
    settings
        Keywords of `rnshmc.run.sample.sample`: step size, steps, iterations, and settings of the surrogate's fit.

    Returns
    -------
    Columns `COLUMNS`: one row for each dimension, repeat and sampler, with the share of accepted moves.
    """
    rows = []
    for d in dimensions:
        for repeat in range(1, repeats + 1):
            names = ("projection", f"d{d}", f"repeat{repeat}")
            projected = project(data, dim=d, rng=stream(seed, *names))
            chain = sample(
                LogisticRegression(projected.X, projected.y, prior_sd=prior_sd),
                sampler="rns_hmc",
                start=np.zeros(d),
                discard=discard,
                # One seed for the phases of a chain: their streams are told apart by name, and by d and repeat here.
                seed=int(stream(seed, *names, "chain").integers(2**31)),
                **settings,
            )
            found = {
                "hmc": chain.exploration.stats["accepted"][discard:].mean(),
                "rns_hmc": chain.sampling.stats["accepted"].mean(),
            }
            rows += [(d, repeat, sampler, float(ap), data.origin) for sampler, ap in found.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))
