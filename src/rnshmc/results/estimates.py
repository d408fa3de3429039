"""Means over chains with their standard errors: the numbers behind every row of Table 1."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.names import in_order
from rnshmc.store.timing import Timing

BASELINE = "hmc"

Cell = tuple[str, str]
"""A problem and a sampler."""


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Self:
        """Mean of independent values; the error of a single one is NaN."""
        sample = np.array(list(values), dtype=float)
        error = sample.std(ddof=1) / math.sqrt(sample.size) if sample.size > 1 else math.nan
        return cls(float(sample.mean()), float(error))

    def per(self, other: "Estimate") -> "Estimate":
        """Ratio of two independent estimates; relative errors add in quadrature."""
        ratio = self.value / other.value
        return Estimate(ratio, math.hypot(self.error, ratio * other.error) / abs(other.value))


class OfChain(Protocol):
    """Measurements on a chain."""

    @property
    def problem(self) -> str:
        """Name of the problem."""
        ...

    @property
    def sampler(self) -> str:
        """Name of the sampler."""
        ...


M = TypeVar("M", bound=OfChain)


def cells(metrics: Iterable[M], *, alike: Sequence[str] = ("origin", "draws", "hidden_units")) -> dict[Cell, list[M]]:
    """The chains of each problem and sampler: problems in the order in which they come, samplers in that of the papers.

    Parameters
    ----------
    metrics
        Of every chain.
    alike
        Attributes in which the chains of a cell have to agree: by default, data, length and hidden units.

    Raises
    ------
    StoreError
        If the chains of a cell differ in one of them.
    """
    by_cell: dict[Cell, list[M]] = {}
    for chain in metrics:
        by_cell.setdefault((chain.problem, chain.sampler), []).append(chain)
    for cell, chains in by_cell.items():
        for field in alike:
            values = {getattr(chain, field) for chain in chains}
            if len(values) > 1:
                raise StoreError(f"chains of {'/'.join(cell)} differ in {field}: {sorted(map(str, values))}")
    problems = dict.fromkeys(problem for problem, _ in by_cell)
    samplers = in_order(sampler for _, sampler in by_cell)
    return {(p, s): by_cell[p, s] for p in problems for s in samplers if (p, s) in by_cell}


def estimates(metrics: Sequence[ChainMetrics], timings: Sequence[Timing]) -> dict[Cell, dict[str, Estimate]]:
    """Every number of Table 1 for every problem and sampler; `rnshmc.results.tables.table1` says what they are.

    Raises
    ------
    StoreError
        If a cell has no timing, or its chains do not belong together.
    """
    seconds = {(timing.problem, timing.sampler): timing for timing in timings}
    table = {}
    for cell, chains in cells(metrics).items():
        if cell not in seconds:
            raise StoreError(f"no timing of {'/'.join(cell)}")
        table[cell] = _cell_estimates(chains, seconds[cell])
    for (problem, sampler), row in table.items():
        row["speedup"] = _speedup(row, table.get((problem, BASELINE)), is_baseline=sampler == BASELINE)
    return table


def _cell_estimates(chains: Sequence[ChainMetrics], timing: Timing) -> dict[str, Estimate]:
    row = {
        column: Estimate.over(getattr(chain, column) for chain in chains)
        for column in (
            "ap",
            "ess_min",
            "ess_median",
            "ess_max",
            "values_per_iter",
            "gradients_per_iter",
            "metrics_per_iter",
        )
    }
    row["s_per_iter"] = Estimate(timing.s_per_iter, timing.standard_error)
    row["min_ess_per_s"] = Estimate.over(chain.ess_min / chain.draws for chain in chains).per(row["s_per_iter"])
    row["min_ess_per_value"] = Estimate.over(_ess_per_evaluation(chain) for chain in chains)
    return row


def _ess_per_evaluation(chain: ChainMetrics) -> float:
    """NaN for a chain whose every trajectory failed before the exact potential was asked."""
    evaluations = chain.draws * chain.evaluations_per_iter
    return chain.ess_min / evaluations if evaluations else math.nan


def _speedup(row: dict[str, Estimate], baseline: dict[str, Estimate] | None, *, is_baseline: bool) -> Estimate:
    if is_baseline:
        return Estimate(1.0, 0.0)
    if baseline is None:
        return Estimate(math.nan, math.nan)
    return row["min_ess_per_s"].per(baseline["min_ess_per_s"])
