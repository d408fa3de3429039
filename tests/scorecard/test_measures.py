"""What made-up tables say to the statements of the paper."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.errors import StoreError
from rnshmc.scorecard.measured import Measured, Tables
from rnshmc.scorecard.measures import measure

RUNS = (1, 2)


def found(tables: Tables, item: str, quantity: str) -> Measured:
    result = measure(tables, item, quantity)
    assert result is not None
    return result


def sweep(figure: str, column: str, acceptances: dict[int, tuple[float, float]], **fixed: int) -> Tables:
    """Two runs at each setting, with HMC at 0.7 and 0.72."""
    rows = [
        {**fixed, column: value, "run": run, "ap": ap, "hmc_ap": hmc_ap}
        for value, pair in acceptances.items()
        for run, ap, hmc_ap in zip(RUNS, pair, (0.70, 0.72), strict=True)
    ]
    return {figure: pd.DataFrame(rows)}


def test_acceptance_is_read_at_the_stated_training_size_and_width() -> None:
    tables = sweep("fig5", "training_points", {500: (0.1, 0.3), 2000: (0.63, 0.72)}, hidden_units=1000)
    small = found(tables, "fig5", "acceptance_at_500")
    assert_allclose(small.estimate, (0.2, 0.1))
    assert small.over == "2 runs"
    assert_allclose(found(tables, "fig5", "acceptance_at_2000_over_hmc").estimate.value, (0.63 / 0.70 + 1.0) / 2)


def test_a_sweep_without_a_point_nearby_says_nothing() -> None:
    other_size = sweep("fig5", "training_points", {700: (0.1, 0.3)}, hidden_units=1000)
    other_width = sweep("fig5", "training_points", {500: (0.1, 0.3)}, hidden_units=200)
    for tables in (other_size, other_width, {}):
        assert measure(tables, "fig5", "acceptance_at_500") is None


def test_acceptance_is_high_up_to_the_first_dimension_where_it_is_not() -> None:
    acceptances = {16: (0.7, 0.7), 32: (0.6, 0.6), 48: (0.4, 0.5), 64: (0.3, 0.3), 80: (0.6, 0.6)}
    tables = sweep("fig4", "d", acceptances, hidden_units=2000)
    assert found(tables, "fig4", "high_until_dimension").estimate.value == 48
    assert_allclose(found(tables, "fig4", "acceptance_hmc").estimate.value, 0.71)


def test_errors_of_fits_are_compared_on_the_same_observations() -> None:
    rows = [
        {"repeat": repeat, "n": n, "method": method, "region": "all", "rmse_average": repeat * error / n}
        for repeat in (1, 2, 3)
        for n in (10, 20)
        for method, error in (("rns_hmc", 0.2), ("gp_hmc", 0.5))
    ]
    ratio = found({"fig1_errors": pd.DataFrame(rows)}, "fig1", "rns_hmc_over_gp_hmc_at_10")
    assert_allclose(ratio.estimate, (0.4, 0.0), rtol=0, atol=1e-12)
    assert ratio.over == "3 sets of observations"


def gaussian() -> Tables:
    rows = [
        {
            "method": method,
            "size": size,
            "repeat": repeat,
            "train_s": repeat * size**power,
            "acceptance": 0.7,
            "ess_per_s": height * (1.5 if size == 600 else 1.0),
        }
        for method, power, height in (("rns_hmc", 1.0, 9.0), ("rns_hmc_rbf", 1.1, 6.0), ("gp_hmc", 3.0, 2.0))
        for size in (300, 600, 1200)
        for repeat in RUNS
    ]
    return {"fig3": pd.DataFrame(rows)}


def test_training_time_grows_with_a_power_of_the_size() -> None:
    assert_allclose(found(gaussian(), "fig3", "training_exponent_rns_hmc_rbf").estimate, (1.1, 0.0), rtol=0, atol=1e-12)
    assert measure(gaussian(), "fig3", "training_exponent_fitc_hmc") is None


def test_efficiency_that_drops_is_below_its_best_at_the_end() -> None:
    assert_allclose(found(gaussian(), "fig3", "final_over_best_gp_hmc").estimate.value, 1 / 1.5)


def test_all_methods_have_to_be_there_to_name_the_best() -> None:
    tables = gaussian()
    assert measure(tables, "fig3", "rns_hmc_over_others") is None
    fitc = tables["fig3"].query("method == 'gp_hmc'").assign(method="fitc_hmc", ess_per_s=12.0)
    everyone = {"fig3": pd.concat([tables["fig3"], fitc])}
    assert_allclose(found(everyone, "fig3", "rns_hmc_over_others").estimate.value, 13.5 / 12.0)


def test_the_gain_of_a_surrogate_metric_has_the_errors_of_both() -> None:
    efficiency = {"rmhmc": 2.0, "rns_rmhmc": 30.0}
    rows = [
        {"problem": "pde", "sampler": sampler, "min_ess_per_s": value, "chains": 2, "data": "simulated"}
        for sampler, value in efficiency.items()
    ]
    table = pd.DataFrame(rows)
    gain = found(
        {"table1": table, "table1_se": table.assign(min_ess_per_s=0.1 * table["min_ess_per_s"])}, "section5.2", "gain"
    )
    assert_allclose(gain.estimate, (15.0, 15.0 * np.hypot(0.1, 0.1)))


def test_the_end_of_an_adaptive_chain_is_compared_with_hmc() -> None:
    rows = [
        {
            "problem": "bank",
            "chain": chain,
            "training_points": 500 + 100 * k,
            "ap": 0.06 * k,
            "hmc_ap": 0.6,
            "data": "real",
        }
        for chain in (1, 2)
        for k in range(11)
    ]
    end = found({"fig7": pd.DataFrame(rows)}, "fig7", "final_over_hmc_bank")
    assert_allclose(end.estimate.value, (0.9 + 1.0) / 2)  # the last tenth: the two largest of eleven sizes
    assert not end.other_data


def test_early_errors_are_taken_when_rns_hmc_takes_over() -> None:
    errors = {"hmc": (4.0, 3.0, 2.0, 1.0), "rns_hmc": (4.0, 3.0, 0.5, 0.1), "arns_hmc": (4.0, 1.5, 0.4, 0.1)}
    rows = [
        {
            "problem": "a9a",
            "sampler": sampler,
            "chain": chain,
            "phase": "explore" if point < 2 else "sample",
            # RNS-HMC takes over at 2.5 s, after the second and before the third point of the others.
            "seconds": 1.0 + point - 0.5 * (sampler == "rns_hmc" and point > 1),
            "rem": chain * rem,
            "data": "stand-in",
        }
        for sampler, path in errors.items()
        for chain in (1, 2, 3)
        for point, rem in enumerate(path)
    ]
    early = found({"fig8": pd.DataFrame(rows)}, "fig8", "early_error_a9a")
    assert_allclose(early.estimate.value, 1.5 / 3.0)
    assert early.other_data


def test_a_missing_column_is_named() -> None:
    with pytest.raises(StoreError, match=r"fig3, acceptance_hmc.*method"):
        measure({"fig3": pd.DataFrame({"size": [1]})}, "fig3", "acceptance_hmc")


def test_a_statement_without_a_measure_is_named() -> None:
    with pytest.raises(StoreError, match="claim fig9, wishes"):
        measure({}, "fig9", "wishes")
