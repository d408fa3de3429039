"""What a run says to the statements with a number in paper B's text, captions and Table 4."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.scorecard.entries import PAPER_B
from rnshmc.scorecard.measured import OTHER_DATA, Measure, Measured, Tables, rows_where
from rnshmc.scorecard.network_cells import network_cell

NETWORK = "nng_hmc"
GP = "gp_hmc"
_DIMENSIONS = (10, 20, 40)
_SIZES = (500, 1000, 2000)
_REAL_DATA = ("news", "census", "dota2")
_SHARES = (10, 15, 20)
_STEP_SIZES = ("sghmc_a", "sghmc_b", "sghmc_c")


def _acceptance(tables: Tables, table: str, **where: object) -> Measured | None:
    """Mean acceptance over the repeats of an experiment."""
    rows = rows_where(tables, table, **where)
    return None if rows is None else Measured.over_runs(rows["acceptance"], "repeat")


def _advantage(tables: Tables, **where: object) -> Measured | None:
    """Acceptance with the network minus that with the Gaussian process in Table 4, over the cells that have both."""
    found = [rows_where(tables, "nng_table4", method=method, **where) for method in (NETWORK, GP)]
    if found[0] is None or found[1] is None:
        return None
    network, process = (
        part.pivot_table(index="repeat", columns=["d", "size"], values="acceptance")
        for part in found
        if part is not None
    )
    return Measured.over_runs((network - process).mean(axis=1), "repeat")


def _growing_advantage(tables: Tables) -> Measured | None:
    """The advantage of the network in the most dimensions of Table 4 minus that in the fewest."""
    most, fewest = (_advantage(tables, d=d) for d in (_DIMENSIONS[-1], _DIMENSIONS[0]))
    return None if most is None or fewest is None else _combined(most, fewest, "difference")


def _losses(tables: Tables, network: str, other: str) -> Measured | None:
    """Last training loss of a network over that of another (Fig. 5): geometric mean over chains."""
    found = [rows_where(tables, "nng_fig5", network=name) for name in (network, other)]
    if found[0] is None or found[1] is None:
        return None
    ours, theirs = (part.sort_values("epoch").groupby("chain")["loss"].last() for part in found if part is not None)
    logarithms = Estimate.over(np.log(ours / theirs))
    ratio, chains = math.exp(logarithms.value), len(ours)
    return Measured(Estimate(ratio, ratio * logarithms.error), chains, _chains(chains))


def _compared(
    tables: Tables, problem: str, sampler: str, other: str, column: str, how: str = "ratio"
) -> Measured | None:
    """A number of a sampler relative to that of another, or minus it."""
    first, second = (network_cell(tables, problem, name, column) for name in (sampler, other))
    return None if first is None or second is None else _combined(first, second, how)


def _combined(first: Measured, second: Measured, how: str) -> Measured:
    (a, a_error), (b, b_error) = first.estimate, second.estimate
    ratio = first.estimate.per(second.estimate) if how == "ratio" else Estimate(a - b, math.hypot(a_error, b_error))
    return Measured(ratio, first.samples, first.over, first.other_data)


def _least_speedup(tables: Tables) -> Measured | None:
    """The least speed-up in Table 5, with what the networks were trained on and their training."""
    names = [f"{NETWORK}_{share}" for share in _SHARES]
    cells = [network_cell(tables, problem, name, "total_speedup") for problem in _REAL_DATA for name in names]
    found = [cell for cell in cells if cell is not None]
    if len(found) < len(cells):
        return None
    least = min(found, key=lambda cell: cell.estimate.value)
    return Measured(least.estimate, least.samples, least.over, any(cell.other_data for cell in found))


def _best_of_shares(tables: Tables, problem: str) -> Measured | None:
    """Speed-up with the smallest share of the draws for training over the best of the larger shares."""
    smallest, *larger = (network_cell(tables, problem, f"{NETWORK}_{share}", "total_speedup") for share in _SHARES)
    found = [cell for cell in larger if cell is not None]
    if smallest is None or len(found) < len(larger):
        return None
    return _combined(smallest, max(found, key=lambda cell: cell.estimate.value), "ratio")


def _seconds(tables: Tables, sampler: str) -> Measured | None:
    """Seconds that 1000 draws of the 200-dimensional logistic regression take."""
    found = network_cell(tables, "lr_200", sampler, "s_per_iter")
    if found is None:
        return None
    seconds, error = found.estimate
    return Measured(Estimate(1000 * seconds, 1000 * error), found.samples, "blocks", found.other_data)


def _agreement(tables: Tables, sampler: str, column: str) -> Measured | None:
    """How far the posterior of a sampler on Cover Type is from that of HMC (`rnshmc.results.agreement`)."""
    rows = rows_where(tables, "agreement", problem="cover_type", sampler=sampler, against=BASELINE)
    if rows is None:
        return None
    row = rows.iloc[0]
    judged = float(row["max_abs_z"]) / float(row["threshold"]) if not pd.isna(row["agrees"]) else math.nan
    value = judged if column == "z" else float(row[column])
    return Measured(
        Estimate(value, math.nan), int(row["chains"]), _chains(int(row["chains"])), row["data"] in OTHER_DATA
    )


def _chains(count: int) -> str:
    return f"{count} chain{'s' * (count != 1)}"


_MEASURES: Mapping[tuple[str, str], Measure] = {
    **{
        ("fig2", f"acceptance_{name}"): partial(_acceptance, table="nng_fig2_acceptance", sampler=name)
        for name in (BASELINE, NETWORK)
    },
    **{
        ("fig3", f"acceptance_{name}"): partial(_acceptance, table="nng_fig3_acceptance", sampler=name)
        for name in (BASELINE, NETWORK)
    },
    **{
        ("section4.2", f"acceptance_{name}"): partial(network_cell, problem="lr_200", sampler=name, column="ap")
        for name in (BASELINE, NETWORK)
    },
    **{("section4.2", f"seconds_{name}"): partial(_seconds, sampler=name) for name in (BASELINE, NETWORK)},
    ("section4.2", "seconds_ratio"): partial(
        _compared, problem="lr_200", sampler=BASELINE, other=NETWORK, column="s_per_iter"
    ),
    **{
        ("section4.2", f"ess_per_s_{name}"): partial(
            network_cell, problem="lr_200", sampler=name, column="median_ess_per_s"
        )
        for name in (BASELINE, NETWORK)
    },
    ("section4.2", "speedup"): partial(network_cell, problem="lr_200", sampler=NETWORK, column="speedup"),
    ("fig5", "blocks_over_large"): partial(_losses, network="blocks", other="large"),
    ("fig5", "blocks_over_small"): partial(_losses, network="blocks", other="small"),
    ("section4.3", "training_seconds"): partial(network_cell, problem="garch", sampler=NETWORK, column="fit_s"),
    **{
        ("fig9", f"{what}_{name}"): partial(_agreement, sampler=name, column=column)
        for what, column in (("location", "shift"), ("shape", "spread"))
        for name in (*_STEP_SIZES, NETWORK)
    },
    ("fig9", f"means_{NETWORK}"): partial(_agreement, sampler=NETWORK, column="z"),
    **{
        ("section4.4", f"{name}_over_sghmc_mh"): partial(
            _compared, problem="cover_type", sampler=NETWORK, other="sghmc_mh", column=column
        )
        for name, column in (("seconds", "s_per_iter"), ("ess", "ess_median"), ("efficiency", "median_ess_per_s"))
    },
    **{
        (f"table4/d{d}/n{size}/{method}", "ap"): partial(_acceptance, table="nng_table4", method=method, d=d, size=size)
        for method in (GP, NETWORK)
        for d in _DIMENSIONS
        for size in _SIZES
    },
    ("section4.5", "network_minus_process"): _advantage,
    ("section4.5", "growth_of_advantage"): _growing_advantage,
    ("section4.6", "least_speedup"): _least_speedup,
    **{("section4.6", f"ten_percent_{name}"): partial(_best_of_shares, problem=name) for name in _REAL_DATA},
    **{
        ("section4.6", f"gain_in_acceptance_{name}"): partial(
            _compared, problem=name, sampler="nng_hmc_20", other="nng_hmc_10", column="ap", how="difference"
        )
        for name in _REAL_DATA
    },
}
NETWORK_MEASURES = {(f"{PAPER_B}{item}", quantity): found for (item, quantity), found in _MEASURES.items()}
"""How each statement of paper B is measured, by item and quantity."""
