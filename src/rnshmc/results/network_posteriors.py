"""Tidy tables of posteriors from exact and from network gradients (paper B, Figs. 7, 9 and 10)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from rnshmc.results.marginals import marginal_table
from rnshmc.results.posterior import ProblemChains

HISTOGRAM_COLUMNS = ("problem", "sampler", "coordinate", "low", "high", "density", "data")
TRACE_COLUMNS = ("problem", "sampler", "coordinate", "iteration", "value", "acceptance", "data")
BINS = 25
"""Bins of a histogram, from the smallest to the largest draw."""


def exponentials(chains: ProblemChains) -> ProblemChains:
    """The chains of exp(q), for example l and sigma^2 of a Gaussian process regression instead of their logarithms."""
    moved = {
        sampler: tuple(replace(chain, draws=np.exp(chain.draws)) for chain in members)
        for sampler, members in chains.chains.items()
    }
    return replace(chains, chains=moved)


def single_marginals(chains: ProblemChains, coordinates: Sequence[int]) -> pd.DataFrame:
    """One-dimensional densities of selected coordinates, counted from 0, as in `marginal_table`.

    Each has its own grid, because the posterior of one sampler may be many times as wide as that of another.
    """
    alone = [replace(chains, chains={sampler: members}) for sampler, members in chains.chains.items()]
    return pd.concat([marginal_table(one, [k]) for k in coordinates for one in alone], ignore_index=True)


def histogram_table(chains: ProblemChains, coordinates: Sequence[int]) -> pd.DataFrame:
    """Histograms of selected coordinates, counted from 0, of all kept draws of each sampler.

    Columns `HISTOGRAM_COLUMNS`: a row for each bin from low to high, coordinates counted from 1. Each sampler has its
    own bins, because one posterior may be many times as wide as another.
    """
    parts = []
    for coordinate in coordinates:
        for sampler in chains.chains:
            density, edges = np.histogram(chains.draws(sampler)[:, coordinate], bins=BINS, density=True)
            columns = {"low": edges[:-1], "high": edges[1:], "density": density}
            parts.append(pd.DataFrame({"sampler": sampler, "coordinate": coordinate + 1, **columns}))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(problem=chains.problem, data=chains.origin)[list(HISTOGRAM_COLUMNS)]


def trace_table(chains: ProblemChains, coordinate: int) -> pd.DataFrame:
    """Trace of a coordinate, counted from 0, in the first Markov chain of each sampler, up to the shortest length.

    Columns `TRACE_COLUMNS`: coordinate and iteration are counted from 1, the latter after the exploration; acceptance
    is the share of all kept iterations of that chain whose proposal was accepted.
    """
    first = {sampler: found[0] for sampler in chains.chains if (found := chains.markov(sampler))}
    length = min(map(len, first.values()))
    iterations = np.arange(1, length + 1)
    parts = [
        pd.DataFrame(
            {
                "sampler": sampler,
                "iteration": iterations,
                "value": draws[:length, coordinate],
                "acceptance": chains.chains[sampler][0].stats["accepted"].mean(),
            }
        )
        for sampler, draws in first.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(problem=chains.problem, coordinate=coordinate + 1, data=chains.origin)[list(TRACE_COLUMNS)]
