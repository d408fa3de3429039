"""Acceptance on a9a by the dimension of its projection (paper A, section 5.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.project import project
from rnshmc.datasets.subset import random_rows
from rnshmc.random import stream
from rnshmc.run.sample import run_sampler
from rnshmc.targets.logistic import LogisticRegression

COLUMNS = ("d", "repeat", "sampler", "ap", "data")


def acceptance_by_dimension(
    data: LogisticData,
    *,
    dimensions: Sequence[int],
    repeats: int,
    rows: int | None,
    prior_sd: float,
    discard: int,
    seed: int,
    settings: Mapping[str, Any],
) -> pd.DataFrame:
    """Project data at random to several dimensions, explore each posterior by HMC, and continue by RNS-HMC.

    Columns `COLUMNS`: one row for each dimension, repeat and sampler, with the share of accepted moves.
    ``dimensions``, ``repeats`` and ``rows`` are explained in config/README.md (`experiments.projection`); the posterior
    has one more dimension, the intercept. The data are encoded, but neither projected nor standardised. The first
    ``discard`` iterations of an exploration are excluded from training and acceptance. ``settings`` are keywords of
    `rnshmc.run.sample.run_sampler`: step size, steps, iterations, and settings of the surrogate's fit.
    """
    found = []
    for d in dimensions:
        for repeat in range(1, repeats + 1):
            names = ("projection", f"d{d}", f"repeat{repeat}")
            projected = project(data, dim=d, rng=stream(seed, *names))
            if rows is not None:
                projected = random_rows(projected, rows, stream(seed, *names, "rows"))
            chain = run_sampler(
                LogisticRegression(projected.X, projected.y, prior_sd=prior_sd),
                sampler="rns_hmc",
                start=np.zeros(1 + d),
                discard=discard,
                # One seed per d and repeat; the streams of a chain's phases differ by name.
                seed=int(stream(seed, *names, "chain").integers(2**31)),
                **settings,
            )
            ap = {
                "hmc": chain.exploration.stats["accepted"][discard:].mean(),
                "rns_hmc": chain.sampling.stats["accepted"].mean(),
            }
            found += [(d, repeat, sampler, float(share), projected.origin) for sampler, share in ap.items()]
    return pd.DataFrame(found, columns=list(COLUMNS))
