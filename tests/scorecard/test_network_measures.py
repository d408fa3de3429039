"""What made-up tables say to the statements of paper B."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.scorecard.measured import Measured, Tables
from rnshmc.scorecard.measures import measure


def found(tables: Tables, item: str, quantity: str) -> Measured:
    result = measure(tables, f"B/{item}", quantity)
    assert result is not None
    return result


def network_tables(rows: dict[tuple[str, str], dict[str, float]], data: str = "real") -> Tables:
    """The run's table of paper B with one chain per row, and its errors, a tenth of each number."""
    numbers = pd.DataFrame(
        [{"problem": problem, "sampler": sampler, **values} for (problem, sampler), values in rows.items()]
    )
    shares = {"nng_hmc_10": 1000, "nng_hmc_15": 1500, "nng_hmc_20": 2000}
    numbers = numbers.assign(training_draws=numbers["sampler"].map(shares))
    errors = numbers.copy()
    columns = errors.columns.difference(["problem", "sampler"])
    errors[columns] *= 0.1
    return {"nng_tables": numbers.assign(chains=1, data=data), "nng_tables_se": errors.assign(chains=1, data=data)}


def table4(acceptances: dict[tuple[str, int, int], tuple[float, float]]) -> Tables:
    rows = [
        {"method": method, "d": d, "size": size, "repeat": repeat, "acceptance": value}
        for (method, d, size), pair in acceptances.items()
        for repeat, value in enumerate(pair, start=1)
    ]
    return {"nng_table4": pd.DataFrame(rows)}


@pytest.mark.parametrize("figure", ["fig2", "fig3"])
def test_acceptance_is_the_mean_over_repeats(figure: str) -> None:
    rows = [("hmc", 1, 0.5), ("hmc", 2, 0.6), ("nng_hmc", 1, 0.4)]
    tables = {f"nng_{figure}_acceptance": pd.DataFrame(rows, columns=["sampler", "repeat", "acceptance"])}
    hmc = found(tables, figure, "acceptance_hmc")
    assert_allclose(hmc.estimate, (0.55, 0.05))
    assert hmc.over == "2 repeats"
    assert found(tables, figure, "acceptance_nng_hmc").over == "1 repeat"


def test_cells_of_table_4_are_means_over_repeats() -> None:
    tables = table4({("gp_hmc", 10, 500): (0.6, 0.7), ("gp_hmc", 20, 500): (0.1, 0.1)})
    assert_allclose(found(tables, "table4/d10/n500/gp_hmc", "ap").estimate, (0.65, 0.05))
    assert measure(tables, "B/table4/d10/n500/nng_hmc", "ap") is None


def test_the_advantage_of_the_network_is_taken_repeat_by_repeat() -> None:
    process = {("gp_hmc", d, 500): (0.5, 0.7) for d in (10, 40)}
    network = {("nng_hmc", 10, 500): (0.6, 0.8), ("nng_hmc", 40, 500): (0.8, 1.0)}
    tables = table4(process | network)
    assert_allclose(found(tables, "section4.5", "network_minus_process").estimate, (0.2, 0.0), rtol=0, atol=1e-12)
    assert_allclose(found(tables, "section4.5", "growth_of_advantage").estimate, (0.2, 0.0), rtol=0, atol=1e-12)
    assert measure(table4(process), "B/section4.5", "network_minus_process") is None


def test_last_losses_are_compared_chain_by_chain() -> None:
    rows = [
        {"network": network, "chain": chain, "epoch": epoch, "loss": loss * chain / epoch}
        for network, loss in (("large", 0.2), ("small", 0.6), ("blocks", 0.3))
        for chain in (1, 2)
        for epoch in (2, 1)
    ]
    tables = {"nng_fig5": pd.DataFrame(rows)}
    assert_allclose(found(tables, "fig5", "blocks_over_large").estimate, (1.5, 0.0), rtol=0, atol=1e-12)
    assert_allclose(found(tables, "fig5", "blocks_over_small").estimate, (0.5, 0.0), rtol=0, atol=1e-12)


def test_seconds_of_200_dimensions_are_those_of_1000_draws() -> None:
    tables = network_tables({("lr_200", "hmc"): {"s_per_iter": 0.3}, ("lr_200", "nng_hmc"): {"s_per_iter": 0.04}})
    assert_allclose(found(tables, "section4.2", "seconds_hmc").estimate, (300.0, 30.0))
    ratio = found(tables, "section4.2", "seconds_ratio").estimate
    assert_allclose(ratio, (7.5, 7.5 * np.hypot(0.1, 0.1)))


def test_sghmc_is_compared_with_nng_hmc_on_cover_type() -> None:
    rows = {
        ("cover_type", "nng_hmc"): {"s_per_iter": 0.2, "ess_median": 90.0, "median_ess_per_s": 3.0},
        ("cover_type", "sghmc_mh"): {"s_per_iter": 0.1, "ess_median": 30.0, "median_ess_per_s": 2.0},
    }
    tables = network_tables(rows, data="stand-in")
    ratios = [found(tables, "section4.4", f"{name}_over_sghmc_mh") for name in ("seconds", "ess", "efficiency")]
    assert_allclose([ratio.estimate.value for ratio in ratios], [2.0, 3.0, 1.5])
    assert all(ratio.other_data for ratio in ratios)


def test_shares_of_training_are_compared_on_each_problem() -> None:
    numbers = {"nng_hmc_10": (3.0, 0.60), "nng_hmc_15": (2.0, 0.65), "nng_hmc_20": (1.5, 0.72)}
    rows = {
        (problem, sampler): {"total_speedup": factor * speedup, "ap": ap}
        for problem, factor in (("news", 1.0), ("census", 0.9), ("dota2", 2.0))
        for sampler, (speedup, ap) in numbers.items()
    }
    tables = network_tables(rows)
    assert_allclose(found(tables, "section4.6", "least_speedup").estimate.value, 1.35)
    assert_allclose(found(tables, "section4.6", "ten_percent_census").estimate.value, 1.5)
    gain = found(tables, "section4.6", "gain_in_acceptance_dota2").estimate
    assert_allclose(gain, (0.12, np.hypot(0.072, 0.06)))
    few = {
        name: table.assign(training_draws=np.minimum(table["training_draws"], 1900)) for name, table in tables.items()
    }
    assert measure(few, "B/section4.6", "gain_in_acceptance_dota2") is None
    del rows["dota2", "nng_hmc_20"]
    for quantity in ("least_speedup", "ten_percent_dota2", "gain_in_acceptance_dota2"):
        assert measure(network_tables(rows), "B/section4.6", quantity) is None


def test_agreement_is_read_from_its_table() -> None:
    row = {
        "problem": "cover_type",
        "against": "hmc",
        "agrees": True,
        "chains": 2,
        "data": "real",
        "max_abs_z": 2.0,
        "threshold": 4.0,
    }
    rows = [
        {**row, "sampler": "nng_hmc", "shift": 0.01, "spread": 1.02},
        {**row, "sampler": "sghmc_b", "shift": 0.4, "spread": 3.0},
    ]
    tables = {"agreement": pd.DataFrame(rows)}
    values = [
        found(tables, "fig9", quantity).estimate.value
        for quantity in ("means_nng_hmc", "shape_nng_hmc", "location_sghmc_b", "shape_sghmc_b")
    ]
    assert_allclose(values, [0.5, 1.02, 0.4, 3.0])
    assert measure(tables, "B/fig9", "shape_sghmc_c") is None
