"""Means over chains with their standard errors: the numbers behind every row of a table."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.names import in_order
from rnshmc.run.recipes import AUTO
from rnshmc.store.timing import Timing

BASELINE = "hmc"
ITERATIONS = 10_000
"""Iterations of a run whose seconds are reported: the length of each chain in both papers, including exploration."""
MEANS = (
    "ap",
    "ap_with_empty",
    *(
        f"{name}_{part}"
        for name in ("ess", "truncated_ess", "truncated_ess_with_empty")
        for part in ("min", "median", "max")
    ),
    "values_per_iter",
    "gradients_per_iter",
    "metrics_per_iter",
    "surrogate_gradients_per_iter",
)
"""Means over chains of fields of `ChainMetrics`."""
SPEEDUPS = {
    "speedup_min_ess": "min_ess_per_s",
    "speedup_median_ess": "median_ess_per_s",
    "speedup_median_ess_with_training": "median_ess_per_s_with_training",
}
"""Efficiency from which each speed-up, relative to HMC on the same problem, is computed."""
_RATIOS = (*SPEEDUPS, *(f"published_{name}" for name in SPEEDUPS))
_ALIKE = ("origin", "draws", "recipe", "hidden_units", "training_draws")

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
        """Ratio of two independent estimates; relative errors add in quadrature. Undefined, NaN, relative to zero."""
        if other.value == 0:
            return type(self)(math.nan, math.nan)
        ratio = self.value / other.value
        return Estimate(ratio, math.hypot(self.error, ratio * other.error) / abs(other.value))

    def times(self, factor: float) -> "Estimate":
        """A multiple."""
        return Estimate(factor * self.value, factor * self.error)

    @classmethod
    def total(cls, parts: Iterable["Estimate"]) -> Self:
        """Sum of independent estimates; errors add in quadrature."""
        terms = list(parts)
        return cls(sum(part.value for part in terms), math.hypot(*(part.error for part in terms)))


UNDEFINED = Estimate(math.nan, math.nan)


def cells(metrics: Iterable[ChainMetrics]) -> dict[Cell, list[ChainMetrics]]:
    """The chains of each problem and sampler: problems in the given order, samplers in that of the papers.

    Raises `StoreError` if the chains of a cell differ in data, length, recipe, hidden units or training draws.
    """
    by_cell: dict[Cell, list[ChainMetrics]] = {}
    for chain in metrics:
        by_cell.setdefault((chain.problem, chain.sampler), []).append(chain)
    for cell, chains in by_cell.items():
        for field in _ALIKE:
            values = {getattr(chain, field) for chain in chains}
            if len(values) > 1:
                raise StoreError(f"chains of {'/'.join(cell)} differ in {field}: {sorted(map(str, values))}")
    problems = dict.fromkeys(problem for problem, _ in by_cell)
    samplers = in_order(sampler for _, sampler in by_cell)
    return {(p, s): by_cell[p, s] for p in problems for s in samplers if (p, s) in by_cell}


def estimates(
    metrics: Sequence[ChainMetrics], timings: Sequence[Timing], unmixed: Collection[Cell] = ()
) -> dict[Cell, dict[str, Estimate]]:
    """All numbers of every problem and sampler; see `rnshmc.results.tables.results_tables`.

    Raises `StoreError` if a cell has no timing, or its chains do not belong together.
    """
    seconds = {
        (timing.problem, timing.sampler): Estimate(timing.s_per_iter, timing.standard_error) for timing in timings
    }
    chains = cells(metrics)
    missing = [cell for cell in chains if cell not in seconds]
    if missing:
        raise StoreError(f"no timing of {'/'.join(missing[0])}")
    table = {
        (problem, sampler): _cell_estimates(members, seconds[problem, sampler], seconds.get((problem, BASELINE)))
        for (problem, sampler), members in chains.items()
    }
    return {
        cell: {
            **row,
            **_speedups(cell, table),
            **_published(cell, chains, seconds),
            # Efficiencies of chains that did not mix, and ratios to them, are undefined.
            **(dict.fromkeys(_RATIOS, UNDEFINED) if {cell, (cell[0], BASELINE)} & set(unmixed) else {}),
        }
        for cell, row in table.items()
    }


def _cell_estimates(chains: Sequence[ChainMetrics], own: Estimate, exact: Estimate | None) -> dict[str, Estimate]:
    least, median = (
        Estimate.over(getattr(chain, name) / chain.draws for chain in chains) for name in ("ess_min", "ess_median")
    )
    training = Estimate.over(math.nan if chain.fit_s is None else chain.fit_s for chain in chains)
    total = _total(chains[0].training_draws, own, exact, training)
    # Most evaluations of `rnshmc.sample` precede its first draw, so its seconds are not proportional to the draws.
    whole = chains[0].recipe != AUTO
    return {
        **{name: Estimate.over(getattr(chain, name) for chain in chains) for name in MEANS},
        "s_per_iter": own,
        "fit_s": training,
        "sample_s": own.times(ITERATIONS) if whole else UNDEFINED,
        "total_s": total if whole else UNDEFINED,
        "min_ess_per_s": least.per(own),
        "median_ess_per_s": median.per(own),
        "median_ess_per_s_with_training": median.times(ITERATIONS).per(total),
        "min_ess_per_value": Estimate.over(_ess_per_evaluation(chain) for chain in chains),
    }


def _total(trained: int | None, own: Estimate, exact: Estimate | None, training: Estimate) -> Estimate:
    """Seconds of all `ITERATIONS`, including the training draws of HMC and the training."""
    if trained is None:
        return own.times(ITERATIONS)
    if exact is None:
        return UNDEFINED
    return Estimate.total([exact.times(trained), training, own.times(ITERATIONS - trained)])


def _ess_per_evaluation(chain: ChainMetrics) -> float:
    """NaN for a chain in which every trajectory failed before the exact potential was evaluated."""
    evaluations = chain.draws * chain.evaluations_per_iter
    return chain.ess_min / evaluations if evaluations else math.nan


def _speedups(cell: Cell, table: Mapping[Cell, Mapping[str, Estimate]]) -> dict[str, Estimate]:
    """Efficiencies relative to HMC on the same problem: HMC's own are 1 by definition, without error."""
    problem, sampler = cell
    if sampler == BASELINE:
        return dict.fromkeys(SPEEDUPS, Estimate(1.0, 0.0))
    baseline = table.get((problem, BASELINE))
    if baseline is None:
        return dict.fromkeys(SPEEDUPS, UNDEFINED)
    return {name: table[cell][column].per(baseline[column]) for name, column in SPEEDUPS.items()}


def as_published(sampler: str) -> str:
    """Name of the timing of a sampler when it evaluates as many gradients as the published implementation."""
    return f"{sampler}_as_published"


def _published(
    cell: Cell, chains: Mapping[Cell, Sequence[ChainMetrics]], seconds: Mapping[Cell, Estimate]
) -> dict[str, Estimate]:
    """Seconds as published, and efficiencies relative to HMC as published.

    Draws are from the lean samplers, and a surrogate's training draws are timed as HMC as published. A sampler that was
    timed in only one way has those seconds.
    """
    names = {f"published_{name}": column for name, column in SPEEDUPS.items()}
    problem, sampler = cell
    exact, wasteful = chains.get((problem, BASELINE)), seconds.get((problem, as_published(BASELINE)))
    if exact is None or wasteful is None:
        return dict.fromkeys(("published_s_per_iter", "published_total_s", *names), UNDEFINED)
    row = _cell_estimates(chains[cell], seconds.get((problem, as_published(sampler)), seconds[cell]), wasteful)
    baseline = _cell_estimates(exact, wasteful, wasteful)
    return {
        "published_s_per_iter": row["s_per_iter"],
        "published_total_s": row["total_s"],
        **{name: row[column].per(baseline[column]) for name, column in names.items()},
    }
