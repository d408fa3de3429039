"""Tables from made-up chains whose numbers can be worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.errors import StoreError
from rnshmc.results.metrics import ChainMetrics, Convergence
from rnshmc.results.tables import (
    RESULTS_COLUMNS,
    diagnostics_table,
    results_tables,
    unmixed_cells,
)
from rnshmc.results.timings import all_timings
from rnshmc.results.views import read_views, view
from rnshmc.store.timing import Timing, read_timings

VIEWS = read_views(Path(__file__).parents[2] / "papers/views.csv")
HMC_1 = ChainMetrics(
    problem="bank",
    sampler="hmc",
    recipe="hmc",
    chain=1,
    origin="real",
    hidden_units=None,
    training_draws=None,
    explored=500,
    draws=1000,
    ap=0.7,
    ap_with_empty=0.76,
    ess=[100.0, 300.0, 500.0],
    ess_min=100.0,
    ess_median=300.0,
    ess_max=500.0,
    truncated_ess_min=180.0,
    truncated_ess_median=540.0,
    truncated_ess_max=900.0,
    truncated_ess_with_empty_min=150.0,
    truncated_ess_with_empty_median=450.0,
    truncated_ess_with_empty_max=750.0,
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
    fit_s=None,
    rem_iteration=[1, 1000],
    rem=[0.5, 0.01],
    mean=[1.0, 2.0, 3.0],
    sd=[1.0, 1.0, 1.0],
    mcse_mean=[0.1, 0.1, 0.1],
    mcse_sd=[0.07, 0.07, 0.07],
    verdict=None,
)


HMC_2 = replace(HMC_1, chain=2, ap=0.8, ess_min=200.0)
FIT = {"fit": {"iterations": 0, "wall_s": 5.0, "cpu_s": 3.0}}
RNS = replace(
    HMC_1,
    sampler="rns_hmc",
    recipe="rns_hmc",
    hidden_units=50,
    training_draws=1000,
    evaluations_per_iter=1.0,
    gradients_per_iter=0.0,
    surrogate={"hidden_units": 50},
    fit_s=10.0,
    phases={**HMC_1.phases, **FIT},
)
RNS_2 = replace(RNS, chain=2, ess_min=140.0, ess_median=380.0, fit_s=14.0)
CHAINS = [RNS, RNS_2, HMC_2, HMC_1]
PAPERS = {"bank": "zhang2017"}
TIMINGS = [
    Timing("bank", "hmc", 0.02, (0.018, 0.02, 0.022), loaded=False),
    Timing("bank", "rns_hmc", 0.004, (0.004,), loaded=True),
]

MEDIAN = np.sqrt(np.pi / 2)
"""Standard error of a median of normal values, relative to that of their mean."""
HMC_SE = MEDIAN * 0.002 / np.sqrt(3)


def row(table: pd.DataFrame, sampler: str) -> dict[str, Any]:
    return {str(key): value for key, value in table.set_index("sampler").loc[sampler].items()}


def table(chains: list[ChainMetrics] = CHAINS, timings: list[Timing] = TIMINGS) -> pd.DataFrame:
    return results_tables(chains, timings, PAPERS)[0]


def errors(chains: list[ChainMetrics] = CHAINS, timings: list[Timing] = TIMINGS) -> pd.DataFrame:
    return results_tables(chains, timings, PAPERS)[1]


def test_there_is_a_row_for_each_sampler() -> None:
    found = table()
    assert tuple(found.columns) == RESULTS_COLUMNS
    assert found["sampler"].tolist() == ["hmc", "rns_hmc"]
    assert found["recipe"].tolist() == ["hmc", "rns_hmc"]
    assert found["paper"].tolist() == ["zhang2017"] * 2
    assert found["training_draws"].tolist() == [pd.NA, 1000]
    assert row(found, "rns_hmc")["hidden_units"] == 50
    assert row(found, "hmc")["hidden_units"] is pd.NA
    assert found["data"].tolist() == ["real", "real"]


def test_a_user_s_problem_is_of_no_paper() -> None:
    assert results_tables(CHAINS, TIMINGS, {})[0]["paper"].tolist() == ["", ""]


def test_what_was_timed_on_a_busy_machine_is_marked() -> None:
    assert table()["loaded"].tolist() == [False, True]


def test_numbers_are_means_over_chains() -> None:
    hmc = row(table(), "hmc")
    assert (hmc["chains"], hmc["draws"]) == (2, 1000)
    assert_allclose([hmc["ap"], hmc["ess_min"], hmc["ess_max"]], [0.75, 150.0, 500.0])
    assert hmc["truncated_ess_median"] == 540.0


def test_efficiency_is_effective_draws_per_second_of_the_kept_iterations() -> None:
    found = table()
    # 150 of 1000 draws at 0.02 s each; 120 of 1000 at 0.004 s each; medians 300 and 340.
    assert_allclose(found["min_ess_per_s"], [150 / 20, 120 / 4])
    assert_allclose(found["median_ess_per_s"], [300 / 20, 340 / 4])
    assert_allclose(found["speedup_min_ess"], [1.0, 4.0])
    assert_allclose(found["speedup_median_ess"], [1.0, 340 / 4 / 15])


def test_published_speedups_are_relative_to_the_published_baseline() -> None:
    """With 0.036 s in place of 0.02: 150 and 300 draws of 1000 in 36 s; 1000 of its iterations to train on."""
    assert table().filter(like="published_").isna().all(axis=None)
    wasteful = Timing("bank", "hmc_as_published", 0.036, (0.035, 0.036, 0.037), loaded=False)
    found = table(timings=[*TIMINGS, wasteful])
    assert found["sampler"].tolist() == ["hmc", "rns_hmc"]
    hmc, rns = (row(found, name) for name in ("hmc", "rns_hmc"))
    assert_allclose([hmc["published_s_per_iter"], hmc["published_total_s"]], [0.036, 360.0])
    assert_allclose(rns["published_s_per_iter"], 0.004)
    assert_allclose(hmc["published_speedup_min_ess"], 1.0)
    assert_allclose(rns["published_speedup_min_ess"], 30 / (150 / 36))
    assert_allclose(rns["published_speedup_median_ess"], 85 / (300 / 36))
    total = 36.0 + 12.0 + 36.0
    assert_allclose([rns["published_s_per_iter"], rns["published_total_s"]], [0.004, total])
    assert_allclose(rns["published_speedup_median_ess_with_training"], 3400 / total / (300 / 36))
    assert found["speedup_min_ess"].tolist() == table()["speedup_min_ess"].tolist()


def test_a_surrogate_wastes_as_much_as_its_baseline_where_it_was_timed_so() -> None:
    """With 0.006 s in place of 0.004, of 10000 iterations 9000."""
    timings = [
        Timing("bank", "hmc_as_published", 0.036, (0.035, 0.036, 0.037), loaded=False),
        Timing("bank", "rns_hmc_as_published", 0.006, (0.006, 0.006, 0.006), loaded=False),
    ]
    rns = row(table(timings=[*TIMINGS, *timings]), "rns_hmc")
    assert rns["published_s_per_iter"] == 0.006
    assert_allclose(rns["published_speedup_min_ess"], 30 / 1.5 / (150 / 36))
    total = 36.0 + 12.0 + 54.0
    assert_allclose(rns["published_speedup_median_ess_with_training"], 3400 / total / (300 / 36))


def test_seconds_of_sampling_leave_out_what_seconds_of_all_include() -> None:
    hmc, rns = (row(table(), name) for name in ("hmc", "rns_hmc"))
    assert_allclose([hmc["sample_s"], hmc["total_s"]], [200.0, 200.0])
    # 1000 iterations of HMC, the training, 9000 iterations of RNS-HMC.
    total = 20.0 + 12.0 + 36.0
    assert_allclose([rns["sample_s"], rns["fit_s"], rns["total_s"]], [40.0, 12.0, total])
    assert_allclose(rns["median_ess_per_s_with_training"], 3400 / total)
    assert_allclose(rns["speedup_median_ess_with_training"], 3400 / total / 15)


def test_ess_per_evaluation_counts_calls_of_the_exact_potential() -> None:
    assert_allclose(table()["min_ess_per_value"], [150 / 5000, 120 / 1000])


def test_standard_errors_are_those_over_chains_and_blocks() -> None:
    hmc, rns = (row(errors(), name) for name in ("hmc", "rns_hmc"))
    assert_allclose([hmc["ap"], hmc["ess_min"], rns["fit_s"]], [0.05, 50.0, 2.0])  # half the difference of two chains
    assert_allclose(hmc["s_per_iter"], HMC_SE)
    assert_allclose(hmc["min_ess_per_s"] / 7.5, np.hypot(50 / 150, HMC_SE / 0.02))
    assert (hmc["speedup_min_ess"], hmc["speedup_median_ess_with_training"]) == (0.0, 0.0)
    assert np.isnan(rns["s_per_iter"])  # a single block
    assert np.isnan(rns["speedup_min_ess"])
    assert_allclose(rns["min_ess_per_value"], 20 / 1000)


def test_errors_of_sums_and_ratios_have_the_errors_of_their_parts() -> None:
    timings = [TIMINGS[0], replace(TIMINGS[1], s_per_iter_blocks=(0.004, 0.004))]
    rns = row(errors(timings=timings), "rns_hmc")
    assert_allclose(rns["speedup_min_ess"] / 4.0, np.hypot(20 / 120, np.hypot(50 / 150, HMC_SE / 0.02)))
    assert_allclose(rns["total_s"], np.hypot(1000 * HMC_SE, 2.0))
    assert_allclose(rns["median_ess_per_s_with_training"] / 50.0, np.hypot(40 / 340, rns["total_s"] / 68.0))


def test_without_hmc_nothing_is_relative_to_it() -> None:
    rns = row(table([RNS], TIMINGS[1:]), "rns_hmc")
    assert np.isnan([rns["total_s"], rns["speedup_min_ess"], rns["speedup_median_ess_with_training"]]).all()


def test_no_sampler_has_a_ratio_to_a_baseline_that_did_not_mix() -> None:
    apart, mixed = (Convergence("bank", "hmc", 9.0, 9.0, rhat) for rhat in (2.5, 1.1))
    wasteful = Timing("bank", "hmc_as_published", 0.036, (0.035, 0.036, 0.037), loaded=False)
    timings = [*TIMINGS, wasteful]
    whole = results_tables(CHAINS, timings, PAPERS, unmixed_cells(CHAINS, [mixed]))[0]
    ratios = [name for name in RESULTS_COLUMNS if "speedup" in name]
    assert len(ratios) == 6
    assert whole[ratios].notna().all(axis=None)
    assert whole["mixed"].all()
    for found in results_tables(CHAINS, timings, PAPERS, unmixed_cells(CHAINS, [apart])):
        assert found[ratios].isna().all(axis=None)
        assert found["mixed"].tolist() == [False, True]
    assert_allclose(results_tables(CHAINS, timings, PAPERS, {("bank", "hmc")})[0]["min_ess_per_s"], [7.5, 30.0])


def test_a_sampler_that_did_not_mix_has_no_ratio_but_others_have() -> None:
    found = results_tables(CHAINS, TIMINGS, PAPERS, {("bank", "rns_hmc")})[0]
    assert found["speedup_min_ess"].tolist()[0] == 1.0
    assert np.isnan(found["speedup_min_ess"].tolist()[1])


def test_a_coordinate_that_never_moved_did_not_mix() -> None:
    """Its R-hat is not defined."""
    alone = Convergence("bank", "hmc", 1.0, 1.0, rhat_max=None)
    assert unmixed_cells([HMC_1], [alone]) == frozenset()
    assert unmixed_cells([HMC_1, replace(HMC_2, sd=[1.0, 0.0, 1.0])], [alone]) == {("bank", "hmc")}


def test_a_missing_timing_is_named() -> None:
    with pytest.raises(StoreError, match="no timing of bank/rns_hmc"):
        table(timings=TIMINGS[:1])


@pytest.mark.parametrize(
    ("field", "value"), [("origin", "stand-in"), ("draws", 7), ("hidden_units", 3), ("training_draws", 9)]
)
def test_chains_that_do_not_belong_together_are_refused(field: str, value: object) -> None:
    odd = replace(HMC_2, **{field: value})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=f"bank/hmc differ in {field}"):
        table([HMC_1, odd])


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_rows_of_its_problems_in_columns_of_its_own(name: str) -> None:
    others = [replace(chain, problem="news") for chain in CHAINS]
    timings = [*TIMINGS, *(replace(timing, problem="news") for timing in TIMINGS)]
    results = table([*CHAINS, *others], timings)
    found = view(results, VIEWS[name], ["news"])
    assert list(found.columns) == [column.name for column in VIEWS[name]]
    assert found["problem"].tolist() == ["news", "news"]
    assert_allclose(
        found["speedup"], results[next(column.source for column in VIEWS[name] if column.name == "speedup")][2:]
    )


def test_the_speed_up_of_a_view_is_that_of_its_paper() -> None:
    assert_allclose(row(view(table(), VIEWS["table1"], ["bank"]), "rns_hmc")["speedup"], 4.0)
    assert_allclose(row(view(table(), VIEWS["nng_tables"], ["bank"]), "rns_hmc")["speedup"], 340 / 60)


def test_diagnostics_say_what_is_wrong() -> None:
    good = Convergence("bank", "rns_hmc", ess_bulk_min=200.0, ess_tail_min=201.0, rhat_max=1.01)
    bad = Convergence("bank", "hmc", ess_bulk_min=199.0, ess_tail_min=50.0, rhat_max=1.011)
    clean = [replace(chain, divergences=0) for chain in (RNS, RNS_2)]
    found = diagnostics_table([HMC_1, replace(HMC_2, solver_failures=3), *clean], [bad, good])
    assert row(found, "rns_hmc")["warnings"] == ""
    warnings = "R-hat 1.011; bulk ESS 199 of 200; tail ESS 50 of 200; 2 divergences; 3 failed solves"
    assert row(found, "hmc")["warnings"] == warnings


def test_a_single_chain_has_no_rhat_to_warn_of() -> None:
    alone = Convergence("bank", "hmc", ess_bulk_min=100.0, ess_tail_min=100.0, rhat_max=None)
    found = row(diagnostics_table([replace(HMC_1, divergences=0)], [alone]), "hmc")
    assert (found["warnings"], found["rhat_max"]) == ("", None)


def test_chains_of_rnshmc_sample_are_timed_as_they_run() -> None:
    auto = replace(HMC_1, sampler="auto", recipe="auto")
    seconds, others = (3.0, 1.0, 1.5), (0.0, 0.25, 0.26)
    chains = [
        replace(auto, phases={"sample": {"iterations": 10, "wall_s": wall_s, "other_cores": cores}})
        for wall_s, cores in zip(seconds, others, strict=True)
    ]
    timing = Timing("bank", "auto", 0.15, (0.3, 0.1, 0.15), loaded=True)
    assert all_timings([], [HMC_1, *chains]) == [timing]
    assert all_timings([], chains[:2]) == [replace(timing, s_per_iter=0.2, s_per_iter_blocks=(0.3, 0.1), loaded=False)]


def test_timing_reads_what_the_timing_stage_wrote(tmp_path: Path) -> None:
    path = tmp_path / "bank.json"
    measured = {"sampler": "hmc", "s_per_iter": 0.02, "s_per_iter_blocks": [0.018, 0.02, 0.022], "loaded": False}
    other = {**measured, "sampler": "rns_hmc", "loaded": True}
    path.write_text(json.dumps({"problem": "bank", "blas_threads": 1, "samplers": [measured, other]}))
    assert read_timings(path) == [TIMINGS[0], replace(TIMINGS[0], sampler="rns_hmc", loaded=True)]
    path.write_text(json.dumps({"problem": "bank", "samplers": [{}]}))
    with pytest.raises(StoreError, match=r"bank\.json.*sampler"):
        read_timings(path)
