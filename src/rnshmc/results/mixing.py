"""Samplers whose chains did not mix; their effective sample sizes and Monte Carlo errors are meaningless."""

from collections.abc import Iterable, Sequence

from rnshmc.results.estimates import Cell
from rnshmc.results.metrics import ChainMetrics, Convergence

MIXED_RHAT = 1.1
"""Maximum R-hat of chains to compare with others (Gelman et al. 2013, Bayesian Data Analysis, section 11.5)."""


def unmixed_cells(metrics: Sequence[ChainMetrics], convergence: Iterable[Convergence]) -> frozenset[Cell]:
    """Problems and samplers with an R-hat above `MIXED_RHAT`, or with a chain in which a coordinate never moved."""
    apart = {(row.problem, row.sampler) for row in convergence if (row.rhat_max or 0.0) > MIXED_RHAT}
    return frozenset(apart | {(chain.problem, chain.sampler) for chain in metrics if 0.0 in chain.sd})
