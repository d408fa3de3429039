"""What a run says to the statements with a number in the papers' texts and captions, from the run's tidy tables.

Paper A's are measured here, paper B's in `rnshmc.scorecard.network_measures`.
"""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from rnshmc.errors import StoreError
from rnshmc.results.estimates import BASELINE, Estimate
from rnshmc.scorecard.measured import OTHER_DATA, Measure, Measured, Tables, measured_cell, rows_where
from rnshmc.scorecard.network_measures import NETWORK_MEASURES

SLACK = 0.15
"""A sweep that has no point within this share of the published setting has nothing to say about it."""
HIGH = 0.5
"""Acceptance is "relatively high" at this share of HMC's or more."""


def measure(tables: Tables, item: str, quantity: str) -> Measured | None:
    """What a run found for a statement; None if it has not run what that takes.

    Raises
    ------
    StoreError
        If nobody has said how to measure it, or a table lacks a column.
    """
    if (item, quantity) not in MEASURES:
        raise StoreError(f"claim {item}, {quantity}: no measure; rnshmc.scorecard.measures.MEASURES lists them")
    try:
        return MEASURES[item, quantity](tables)
    except KeyError as error:
        raise StoreError(f"claim {item}, {quantity}: a table of the run lacks the column {error}") from error


def _nearest(rows: pd.DataFrame | None, **where: float) -> pd.DataFrame | None:
    """The rows of a sweep nearest to a setting; None if a coordinate of it is further than `SLACK` away."""
    for column, wanted in where.items():
        if rows is None:
            return None
        nearest = min(rows[column], key=lambda value, wanted=wanted: abs(value - wanted))  # type: ignore[misc]
        rows = rows[rows[column] == nearest] if abs(nearest - wanted) <= SLACK * wanted else None
    return rows


def _error_ratio(tables: Tables, method: str, other: str, *, n: int, region: str = "all") -> Measured | None:
    """Error of the average fit of Fig. 1 relative to that of another: geometric mean over observations."""
    errors = [rows_where(tables, "fig1_errors", method=name, n=n, region=region) for name in (method, other)]
    if errors[0] is None or errors[1] is None:
        return None
    ours, theirs = (part.set_index("repeat")["rmse_average"] for part in errors if part is not None)
    logarithms = Estimate.over(np.log(ours / theirs))
    ratio = math.exp(logarithms.value)
    return Measured(Estimate(ratio, ratio * logarithms.error), len(ours), f"{len(ours)} sets of observations")


def _sweep_acceptance(tables: Tables, *, training_points: int, relative: bool) -> Measured | None:
    """Acceptance in Fig. 5's sweep with 1000 hidden units, or its share of HMC's."""
    rows = _nearest(rows_where(tables, "fig5"), hidden_units=1000, training_points=training_points)
    if rows is None:
        return None
    return Measured.over_runs(rows["ap"] / rows["hmc_ap"] if relative else rows["ap"])


def _sweep_baseline(tables: Tables) -> Measured | None:
    """Acceptance of HMC over the models of Fig. 4, to each of which its step size was tuned."""
    rows = rows_where(tables, "fig4")
    return None if rows is None else Measured.over_runs(rows.groupby(["d", "run"])["hmc_ap"].mean(), "model")


def _high_until(tables: Tables) -> Measured | None:
    """The largest dimension of Fig. 4 up to which 2000 hidden units keep acceptance high in the mean over runs."""
    rows = _nearest(rows_where(tables, "fig4"), hidden_units=2000)
    if rows is None:
        return None
    means = rows.groupby("d")[["ap", "hmc_ap"]].mean().sort_index()
    high = means["ap"] >= HIGH * means["hmc_ap"]
    last = means.index[high.cummin()].max() if high.iloc[0] else 0
    runs = rows["run"].nunique()
    return Measured(Estimate(float(last), math.nan), runs, f"{runs} run{'s' * (runs != 1)}")


def _banana_acceptance(tables: Tables, sampler: str) -> Measured | None:
    rows = rows_where(tables, "fig2_acceptance", sampler=sampler)
    return None if rows is None else Measured.over_runs(rows["acceptance"])


def _gaussian_baseline(tables: Tables) -> Measured | None:
    rows = rows_where(tables, "fig3", method=BASELINE)
    return None if rows is None else Measured.over_runs(rows["acceptance"])


def _training_exponent(tables: Tables, method: str) -> Measured | None:
    """The exponent p of training time ~ size^p in Fig. 3: one least-squares line through the logarithms per repeat."""
    rows = rows_where(tables, "fig3", method=method)
    if rows is None or rows["size"].nunique() < 2:
        return None
    slopes = [np.polyfit(np.log(part["size"]), np.log(part["train_s"]), 1)[0] for _, part in rows.groupby("repeat")]
    return Measured.over_runs(map(float, slopes))


def _efficiency_by_size(tables: Tables, method: str) -> pd.Series | None:
    rows = rows_where(tables, "fig3", method=method)
    return None if rows is None else rows.groupby("size")["ess_per_s"].median()


def _efficiency_at_the_end(tables: Tables, method: str) -> Measured | None:
    """Efficiency in Fig. 3 at the largest training set, relative to that at the best: below 1 once it drops."""
    efficiency = _efficiency_by_size(tables, method)
    if efficiency is None:
        return None
    ratio = float(efficiency.sort_index().iloc[-1] / efficiency.max())
    return Measured(Estimate(ratio, math.nan), 1, "medians over repeats")


def _best_over_others(tables: Tables, method: str, others: tuple[str, ...]) -> Measured | None:
    """The best efficiency of a method in Fig. 3 relative to the best of the others."""
    found = [_efficiency_by_size(tables, name) for name in (method, *others)]
    best = [float(efficiency.max()) for efficiency in found if efficiency is not None]
    if len(best) <= len(others):
        return None
    return Measured(Estimate(best[0] / max(best[1:]), math.nan), 1, "medians over repeats")


def _table1_estimates(tables: Tables, problem: str, sampler: str, quantity: str) -> Measured | None:
    return measured_cell(tables, "table1", problem, sampler, quantity)


def _acceptance_gap(tables: Tables, problem: str) -> Measured | None:
    """Acceptance of RNS-HMC minus that of HMC."""
    surrogate, exact = (_table1_estimates(tables, problem, sampler, "ap") for sampler in ("rns_hmc", BASELINE))
    if surrogate is None or exact is None:
        return None
    (a, a_error), (b, b_error) = surrogate.estimate, exact.estimate
    return Measured(
        Estimate(a - b, math.hypot(a_error, b_error)), surrogate.samples, surrogate.over, surrogate.other_data
    )


def _dimension_drop(tables: Tables) -> Measured | None:
    """Acceptance of RNS-HMC on a9a projected to 100 columns, relative to that on 60: one ratio per repeat."""
    rows = rows_where(tables, "a9a_dimension", sampler="rns_hmc")
    if rows is None:
        return None
    means = rows.pivot_table(index="repeat", columns="d", values="ap")
    return Measured.over_runs(means[100] / means[60], other_data=rows["data"].isin(OTHER_DATA).any())


def _gain(tables: Tables, problem: str) -> Measured | None:
    """Least ESS per second of RNS-RMHMC relative to RMHMC."""
    names = ("rns_rmhmc", "rmhmc")
    surrogate, exact = (_table1_estimates(tables, problem, sampler, "min_ess_per_s") for sampler in names)
    if surrogate is None or exact is None:
        return None
    return Measured(surrogate.estimate.per(exact.estimate), surrogate.samples, surrogate.over, surrogate.other_data)


def _final_acceptance(tables: Tables, problem: str) -> Measured | None:
    """Acceptance of ARNS-HMC in the last tenth of its chains (Fig. 7), relative to that of HMC."""
    rows = rows_where(tables, "fig7", problem=problem)
    if rows is None:
        return None
    late = rows[rows["training_points"] >= rows["training_points"].quantile(0.9)]
    ratios = (late["ap"] / late["hmc_ap"]).groupby(late["chain"]).mean()
    return Measured.over_runs(ratios, "chain", other_data=rows["data"].isin(OTHER_DATA).any())


def _early_error(tables: Tables, problem: str) -> Measured | None:
    """Relative error of the mean of ARNS-HMC over that of HMC when RNS-HMC takes over: root mean squares over chains.

    Until then RNS-HMC is HMC, so it is behind ARNS-HMC by as much.
    """
    late = rows_where(tables, "fig8", problem=problem, sampler="rns_hmc", phase="sample")
    rows = [rows_where(tables, "fig8", problem=problem, sampler=sampler) for sampler in ("arns_hmc", BASELINE)]
    adaptive, exact = rows
    if late is None or adaptive is None or exact is None:
        return None
    end = float(late["seconds"].min())
    squares = [_errors_at(part, end) ** 2 for part in (adaptive, exact)]
    ratio = Estimate.over(squares[0]).per(Estimate.over(squares[1]))
    root = math.sqrt(ratio.value)
    chains = len(squares[0])
    other_data = bool(adaptive["data"].isin(OTHER_DATA).any())
    return Measured(Estimate(root, ratio.error / (2 * root)), chains, f"{chains} chains", other_data)


def _errors_at(rows: pd.DataFrame, seconds: float) -> pd.Series:
    """The error of each chain at its last point until then."""
    return rows[rows["seconds"] <= seconds].sort_values("seconds").groupby("chain")["rem"].last()


_OTHERS = ("rns_hmc_rbf", "gp_hmc", "fitc_hmc")
_PROBLEMS = ("lr_simulated", "bank", "a9a", "pde")

MEASURES: Mapping[tuple[str, str], Measure] = {
    **{
        ("fig1", f"{method}_over_gp_hmc_at_10"): partial(_error_ratio, method=method, other="gp_hmc", n=10)
        for method in ("rns_hmc", "rns_hmc_rbf", "fitc_hmc")
    },
    ("fig1", "rns_hmc_over_rns_hmc_rbf_far"): partial(
        _error_ratio, method="rns_hmc", other="rns_hmc_rbf", n=40, region="far"
    ),
    ("fig2", "acceptance_hmc"): partial(_banana_acceptance, sampler="hmc"),
    ("fig2", "acceptance_rns_hmc"): partial(_banana_acceptance, sampler="rns_hmc"),
    ("fig3", "acceptance_hmc"): _gaussian_baseline,
    **{
        ("fig3", f"training_exponent_{method}"): partial(_training_exponent, method=method)
        for method in ("rns_hmc", "rns_hmc_rbf", "fitc_hmc")
    },
    ("fig3", "final_over_best_gp_hmc"): partial(_efficiency_at_the_end, method="gp_hmc"),
    ("fig3", "rns_hmc_over_others"): partial(_best_over_others, method="rns_hmc", others=_OTHERS),
    ("fig4", "acceptance_hmc"): _sweep_baseline,
    ("fig4", "high_until_dimension"): _high_until,
    ("fig5", "acceptance_at_500"): partial(_sweep_acceptance, training_points=500, relative=False),
    ("fig5", "acceptance_at_2000_over_hmc"): partial(_sweep_acceptance, training_points=2000, relative=True),
    **{("section5", f"acceptance_gap_{name}"): partial(_acceptance_gap, problem=name) for name in _PROBLEMS},
    **{("section5.1", f"rns_rmhmc_over_rmhmc_{name}"): partial(_gain, problem=name) for name in _PROBLEMS[:3]},
    ("section5.1", "a9a_acceptance_100_over_60"): _dimension_drop,
    ("section5.2", "rns_rmhmc_over_rmhmc_pde"): partial(_gain, problem="pde"),
    ("section5.2", "gain"): partial(_gain, problem="pde"),
    **{("fig7", f"final_over_hmc_{name}"): partial(_final_acceptance, problem=name) for name in _PROBLEMS},
    **{("fig8", f"early_error_{name}"): partial(_early_error, problem=name) for name in _PROBLEMS},
    **NETWORK_MEASURES,
}
"""How each statement is measured, by item and quantity."""
