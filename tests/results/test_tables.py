"""Tables from made-up chains whose numbers can be worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.diagnostics.reference import Reference
from rnshmc.errors import StoreError
from rnshmc.random import stream
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.tables import (
    TABLE1_COLUMNS,
    agreement_table,
    diagnostics_table,
    table1,
    table1_standard_errors,
)
from rnshmc.store.timing import Timing
from rnshmc.types import Array

HMC_1 = ChainMetrics(
    problem="bank",
    sampler="hmc",
    chain=1,
    origin="real",
    hidden_units=None,
    explored=500,
    draws=1000,
    ap=0.7,
    ess=[100.0, 300.0, 500.0],
    ess_min=100.0,
    ess_median=300.0,
    ess_max=500.0,
    ess_bulk_min=90.0,
    ess_tail_min=80.0,
    evaluations_per_iter=5.0,
    values_per_iter=1.0,
    gradients_per_iter=4.0,
    metrics_per_iter=0.0,
    surrogate_gradients_per_iter=0.0,
    divergences=1,
    solver_failures=0,
    softened_metrics=0,
    phases={"explore": {"iterations": 500, "wall_s": 9.0, "cpu_s": 8.0}},
    surrogate=None,
    rem_iteration=[1, 1000],
    rem=[0.5, 0.01],
    mean=[1.0, 2.0, 3.0],
    sd=[1.0, 1.0, 1.0],
    mcse_mean=[0.1, 0.1, 0.1],
)


def reference_run(mean: Array, mcse_mean: Array) -> Reference:
    nothing = np.ones_like(mean)
    return Reference(mean, nothing, mcse_mean, nothing, nothing, draws=100, chains=2)


HMC_2 = replace(HMC_1, chain=2, ap=0.8, ess_min=200.0)
FIT = {"fit": {"iterations": 0, "wall_s": 5.0, "cpu_s": 3.0}}
RNS = replace(
    HMC_1,
    sampler="rns_hmc",
    hidden_units=50,
    evaluations_per_iter=1.0,
    gradients_per_iter=0.0,
    surrogate={"hidden_units": 50},
    phases={**HMC_1.phases, **FIT},
)
CHAINS = [RNS, replace(RNS, chain=2, ess_min=140.0), HMC_2, HMC_1]
TIMINGS = [
    Timing("bank", "hmc", 0.02, (0.018, 0.02, 0.022), loaded=False),
    Timing("bank", "rns_hmc", 0.004, (0.004,), loaded=True),
]

MEDIAN = np.sqrt(np.pi / 2)
"""Standard error of a median of normal values, relative to that of their mean."""


def row(table: pd.DataFrame, sampler: str) -> dict[str, Any]:
    return {str(key): value for key, value in table.set_index("sampler").loc[sampler].items()}


def test_table1_has_the_columns_and_order_of_the_design() -> None:
    table = table1(CHAINS, TIMINGS)
    assert tuple(table.columns) == TABLE1_COLUMNS
    assert table["sampler"].tolist() == ["hmc", "rns_hmc"]
    assert row(table, "rns_hmc")["hidden_units"] == 50
    assert row(table, "hmc")["hidden_units"] is pd.NA
    assert table["data"].tolist() == ["real", "real"]


def test_table1_marks_what_was_timed_on_a_busy_machine() -> None:
    assert table1(CHAINS, TIMINGS)["loaded"].tolist() == [False, True]


def test_table1_takes_means_over_chains() -> None:
    hmc = row(table1(CHAINS, TIMINGS), "hmc")
    assert (hmc["chains"], hmc["draws"]) == (2, 1000)
    assert_allclose([hmc["ap"], hmc["ess_min"], hmc["ess_max"]], [0.75, 150.0, 500.0])


def test_efficiency_is_smallest_ess_per_second_of_the_kept_iterations() -> None:
    table = table1(CHAINS, TIMINGS)
    # 150 of 1000 draws at 0.02 s each; 120 of 1000 at 0.004 s each.
    assert_allclose(table["min_ess_per_s"], [150 / 20, 120 / 4])
    assert_allclose(table["speedup"], [1.0, 4.0])


def test_ess_per_evaluation_counts_calls_of_the_exact_potential() -> None:
    assert_allclose(table1(CHAINS, TIMINGS)["min_ess_per_value"], [150 / 5000, 120 / 1000])


def test_standard_errors_are_those_over_chains_and_blocks() -> None:
    errors = table1_standard_errors(CHAINS, TIMINGS)
    hmc = row(errors, "hmc")
    assert_allclose(hmc["ap"], 0.05)  # half the difference of two chains
    assert_allclose(hmc["ess_min"], 50.0)
    assert_allclose(hmc["s_per_iter"], MEDIAN * 0.002 / np.sqrt(3))
    assert_allclose(hmc["min_ess_per_s"] / 7.5, np.hypot(50 / 150, MEDIAN * 0.1 / np.sqrt(3)))
    assert hmc["speedup"] == 0.0
    rns = row(errors, "rns_hmc")
    assert np.isnan(rns["s_per_iter"])  # a single block
    assert np.isnan(rns["speedup"])
    assert_allclose(rns["min_ess_per_value"], 20 / 1000)


def test_the_error_of_a_speedup_has_the_errors_of_both_samplers() -> None:
    timings = [TIMINGS[0], replace(TIMINGS[1], s_per_iter_blocks=(0.004, 0.004))]
    errors = table1_standard_errors(CHAINS, timings)
    relative = np.hypot(20 / 120, np.hypot(50 / 150, MEDIAN * 0.1 / np.sqrt(3)))
    assert_allclose(row(errors, "rns_hmc")["speedup"], 4.0 * relative)


def test_without_hmc_there_is_no_speedup() -> None:
    assert np.isnan(table1([RNS], TIMINGS)["speedup"]).all()


def test_a_missing_timing_is_named() -> None:
    with pytest.raises(StoreError, match="no timing of bank/rns_hmc"):
        table1(CHAINS, TIMINGS[:1])


@pytest.mark.parametrize(("field", "value"), [("origin", "stand-in"), ("draws", 7), ("hidden_units", 3)])
def test_chains_that_do_not_belong_together_are_refused(field: str, value: object) -> None:
    odd = replace(HMC_2, **{field: value})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=f"bank/hmc differ in {field}"):
        table1([HMC_1, odd], TIMINGS)


def test_agreement_pools_the_chains() -> None:
    chains = [HMC_1, replace(HMC_2, mean=[1.0, 2.0, 3.8])]
    # Means 1, 2, 3.4 with error 0.1 / sqrt(2), against errors of zero.
    reference = {"bank": reference_run(mean=np.array([1.0, 2.0, 3.0]), mcse_mean=np.zeros(3))}
    result = row(agreement_table(chains, reference), "hmc")
    assert_allclose(result["max_abs_z"], 0.4 / (0.1 / np.sqrt(2)))
    assert not result["agrees"]
    assert row(agreement_table([HMC_1], reference), "hmc")["agrees"]
    few = [replace(chain, ess_min=24.0) for chain in chains]
    assert pd.isna(row(agreement_table(few, reference), "hmc")["agrees"])


def test_no_chains_are_no_rows() -> None:
    assert agreement_table([], {}).empty


def test_a_missing_reference_is_named() -> None:
    with pytest.raises(StoreError, match="no reference run of bank"):
        agreement_table(CHAINS, {})


def test_diagnostics_take_all_chains_of_a_sampler_together() -> None:
    draws = stream(1, "tables").normal(size=(2, 1000, 3))
    draws[1, :, 0] += 3.0
    table = diagnostics_table([HMC_1, HMC_2], {("bank", "hmc"): draws})
    assert row(table, "hmc")["divergences"] == 2
    assert row(table, "hmc")["rhat_max"] > 1.5
    assert row(table, "hmc")["ess_bulk_min"] < 100


def test_timing_reads_what_the_timing_stage_wrote(tmp_path: Path) -> None:
    path = tmp_path / "hmc.json"
    content = {
        "problem": "bank",
        "sampler": "hmc",
        "s_per_iter": 0.02,
        "s_per_iter_blocks": [0.018, 0.02, 0.022],
        "loaded": False,
        "blas_threads": 1,
    }
    path.write_text(json.dumps(content))
    assert Timing.read(path) == TIMINGS[0]
    path.write_text(json.dumps({"problem": "bank"}))
    with pytest.raises(StoreError, match=r"hmc\.json.*sampler"):
        Timing.read(path)
