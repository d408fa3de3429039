"""One- and two-dimensional posterior marginals as a tidy table (paper A, Fig. 6)."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from rnshmc.diagnostics.density import Interval, density, density2, support
from rnshmc.results.posterior import ProblemChains
from rnshmc.types import Array

MARGINAL_COLUMNS = ("problem", "sampler", "x_coordinate", "y_coordinate", "x", "y", "density", "data")
FAINT = 2e-3
"""Cells of a two-dimensional density below this share of its peak are omitted."""


def selected_coordinates(dim: int) -> list[int]:
    """Five evenly spaced coordinates: 1, 11, 21, 31, 41 (counted from 1) of 50, as in paper A's Fig. 6."""
    chosen = min(5, dim)
    return [k * (dim // chosen) for k in range(chosen)]


def leading_coordinates(draws: Array, count: int) -> list[int]:
    """Coordinates of largest absolute mean, counted from 0, increasing; ``draws`` has shape (..., dim)."""
    means = np.abs(draws.reshape(-1, draws.shape[-1]).mean(axis=0))
    return sorted(int(k) for k in np.argsort(-means, kind="stable")[:count])


def marginal_table(chains: ProblemChains, coordinates: Sequence[int]) -> pd.DataFrame:
    """Densities of selected coordinates and their pairs, from all kept draws of each sampler.

    Columns `MARGINAL_COLUMNS`, with coordinates counted from 1 as in the papers. A row without `y_coordinate` and `y`
    belongs to a one-dimensional density; the others to a two-dimensional one, whose cells of density below `FAINT` of
    the peak are omitted. The grid is that of `rnshmc.diagnostics.density`, the same for all samplers. Coordinates are
    counted from 0, increasing, in the argument.
    """
    pooled = {sampler: chains.draws(sampler) for sampler in chains.chains}
    intervals = {k: support(draws[:, k] for draws in pooled.values()) for k in coordinates}
    parts = []
    for sampler, draws in pooled.items():
        densities = [_one(draws, k, intervals) for k in coordinates]
        densities += [_two(draws, pair, intervals) for pair in combinations(coordinates, 2)]
        parts.append(pd.concat(densities).assign(sampler=sampler))
    table = pd.concat(parts, ignore_index=True).assign(problem=chains.problem, data=chains.origin)
    return table.astype({"y_coordinate": "Int64"})[list(MARGINAL_COLUMNS)]


def marginal_distances(table: pd.DataFrame) -> "pd.Series[float]":
    """Largest total variation distance, over pairs of samplers, between their densities of each coordinate.

    It takes the table of `marginal_table`; for a single sampler the result is empty.
    """
    single = table[table["y_coordinate"].isna()]
    densities = single.pivot_table(index=["x_coordinate", "x"], columns="sampler", values="density")
    pairs = list(combinations(densities, 2))
    if not pairs:
        return pd.Series(dtype=float)
    differences = pd.concat([(densities[a] - densities[b]).abs() for a, b in pairs], axis=1)
    places = differences.index.to_frame()["x"].groupby(level=0)
    width = (places.max() - places.min()) / (places.size() - 1)
    return differences.groupby(level=0).sum().mul(0.5 * width, axis=0).max(axis=1)


def _one(draws: Array, k: int, intervals: Mapping[int, Interval]) -> pd.DataFrame:
    x, heights = density(draws[:, k], intervals[k])
    nothing = {"y_coordinate": pd.NA, "y": np.nan}
    return pd.DataFrame({"x_coordinate": k + 1, **nothing, "x": x, "density": heights})


def _two(draws: Array, pair: tuple[int, int], intervals: Mapping[int, Interval]) -> pd.DataFrame:
    i, j = pair
    x, y, heights = density2(draws[:, i], draws[:, j], intervals[i], intervals[j])
    places = np.nonzero(heights >= FAINT * heights.max())
    cells = {"x": x[places[0]], "y": y[places[1]], "density": heights[places]}
    return pd.DataFrame({"x_coordinate": i + 1, "y_coordinate": j + 1, **cells})
