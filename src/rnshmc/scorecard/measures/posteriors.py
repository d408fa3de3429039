"""Whether two samplers have the same posterior: means, marginals, variances."""

import math

import numpy as np
import pandas as pd

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.scorecard.measured import Measured, NotRunError, Tables, rests_on_other_data, rows_where
from rnshmc.scorecard.measures.cells import RESULTS, mixed
from rnshmc.scorecard.published import Published


def agreement(tables: Tables, *, number: Published, column: str, over: str = "") -> Measured:
    """A cell of the table of agreement with HMC, or its ratio to another, such as the largest z over its threshold.

    NaN if there are too few draws to judge the agreement, or chains did not mix, for then the means are not located.
    """
    rows = rows_where(tables, "agreement", {"problem": number.problem, "sampler": number.sampler, "against": BASELINE})
    row, chains = rows.iloc[0], int(rows["chains"].iloc[0])
    value = math.nan if pd.isna(row["agrees"]) else float(row[column]) / (float(row[over]) if over else 1.0)
    return Measured(Estimate(value, math.nan), chains, "chain", rests_on_other_data(rows))


def marginals(
    tables: Tables, *, number: Published, table: str, sampler: str, other: str, level: float, ess: str
) -> Measured:
    """The largest Kolmogorov-Smirnov distance between marginals of two samplers, over its critical value.

    Two empirical distribution functions of n and m independent draws of one law are further apart than sqrt(log(2 / a)
    (1 / n + 1 / m) / 2) with probability a at most, to leading order; `level` is shared among the coordinates. Draws of
    chains count as their effective number, the column `ess` of each chain. The marginals of the table are smoothed and
    binned, which brings distribution functions closer, never apart, where both are smoothed alike. ``table`` has
    densities of `rnshmc.results.marginals.marginal_table`; ``level`` is the probability that samplers of one law are
    further apart in any coordinate; ``ess`` is a column of the table of results.
    """
    rows = rows_where(tables, table, {"problem": number.problem})
    sizes = [_effective_draws(tables, number.problem, name, ess) for name in (sampler, other)]
    single = rows[rows["y_coordinate"].isna() & rows["sampler"].isin([sampler, other])]
    if single["sampler"].nunique() < 2:
        raise NotRunError(table)
    distances = [_distance(part) for _, part in single.groupby("x_coordinate")]
    critical = math.sqrt(math.log(2 * len(distances) / level) * (1 / sizes[0] + 1 / sizes[1]) / 2)
    furthest = Estimate(max(distances) / critical, math.nan)
    return Measured(furthest, len(distances), "coordinate", rests_on_other_data(rows))


def variance(tables: Tables, *, table: str, column: str, sampler: str, per: str) -> Measured:
    """The variance of a sampler's draws over all its chains, with the error of the mean of their squared deviations.

    `per` is the column that tells the chains apart.
    """
    rows = rows_where(tables, table, {"sampler": sampler})
    squares = (rows[column] - rows[column].mean()) ** 2
    chains = [part.to_numpy(dtype=float) for _, part in squares.groupby(rows[per])]
    effective = sum(float(geyer_ess(chain[:, None])[0]) for chain in chains)
    estimate = Estimate(float(squares.mean()), float(squares.std()) / math.sqrt(effective))
    return Measured(estimate, len(chains), "chain", rests_on_other_data(rows))


def _distance(rows: pd.DataFrame) -> float:
    """The largest difference of the distribution functions of two samplers' binned densities of one coordinate."""
    functions = []
    for _, part in rows.sort_values("x").groupby("sampler"):
        places = part["x"].to_numpy(dtype=float)
        edges = np.append(places, 2 * places[-1] - places[-2]) - np.diff(places).mean() / 2
        functions.append((edges, np.append(0.0, np.cumsum(part["density"]) / part["density"].sum())))
    everywhere = np.union1d(functions[0][0], functions[1][0])
    first, second = (np.interp(everywhere, edges, heights) for edges, heights in functions)
    return float(np.abs(first - second).max())


def _effective_draws(tables: Tables, problem: str, sampler: str, ess: str) -> float:
    """NaN where chains did not mix."""
    rows = rows_where(tables, RESULTS, {"problem": problem, "sampler": sampler})
    return float(rows[ess].iloc[0] * rows["chains"].iloc[0]) if mixed(tables, problem, sampler) else math.nan
