"""Measures on the table of results."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from numpy.testing import assert_allclose

from rnshmc.errors import StoreError
from rnshmc.scorecard.measured import Tables
from rnshmc.scorecard.measures.registry import measured
from rnshmc.scorecard.noise import ONE_CHAIN
from tests.scorecard.conftest import Find, Make

Results = Callable[..., Tables]
COVER = {
    ("cover_type", "nng_hmc"): {"s_per_iter": 0.2, "sample_s": 2000.0, "truncated_ess_median": 90.0, "ap": 0.6},
    ("cover_type", "sghmc_mh"): {"s_per_iter": 0.1, "sample_s": 1000.0, "truncated_ess_median": 30.0, "ap": 0.3},
}
EFFICIENCY: dict[str, Any] = {"ess": "truncated_ess_median", "seconds": "sample_s", "other": "sghmc_mh"}


def test_effective_draws_per_second_are_compared_at_equal_draws_with_the_errors_of_both(
    find: Find, results: Results
) -> None:
    tables = results(COVER, data="stand-in")
    tables["results"]["draws"] = [600, 1200]
    found = find(tables, "relative_efficiency", "cover_type", "nng_hmc", **EFFICIENCY)
    assert found is not None
    assert_allclose(found.estimate, (3.0, 3.0 * math.sqrt(4 * 0.1**2)))
    assert found.other_data
    assert find(tables, "relative_efficiency", "cover_type", "nng_hmc", **{**EFFICIENCY, "other": "hmc"}) is None


def test_the_effective_size_of_a_single_chain_has_an_error_in_a_ratio(find: Find, results: Results) -> None:
    tables = results(COVER, chains=1)
    tables["results_se"][["truncated_ess_median", "sample_s"]] = math.nan
    efficiency = find(tables, "relative_efficiency", "cover_type", "nng_hmc", **EFFICIENCY)
    assert efficiency is not None
    assert_allclose(efficiency.estimate, (1.5, 1.5 * math.sqrt(ONE_CHAIN / 90 + ONE_CHAIN / 30)))


def test_chains_that_did_not_mix_have_sizes_but_no_efficiency_to_compare(find: Find, results: Results) -> None:
    tables = results(COVER)
    tables["results"]["mixed"] = [True, False]
    efficiency = find(tables, "relative_efficiency", "cover_type", "nng_hmc", **EFFICIENCY)
    size = find(tables, "ess", "cover_type", "nng_hmc", column="truncated_ess_median")
    assert efficiency is not None
    assert size is not None
    assert math.isnan(efficiency.estimate.value)
    assert size.estimate.value == 90.0


def test_an_effective_size_knows_what_a_chain_really_found(find: Find, results: Results) -> None:
    found = find(results(COVER, draws=500), "ess", "cover_type", "nng_hmc", column="truncated_ess_median")
    assert found is not None
    assert (found.estimate.value, found.effective) == (900.0, 90.0)


def test_hmc_is_as_efficient_as_itself(find: Find, results: Results) -> None:
    found = find(
        results(COVER), "relative_efficiency", "cover_type", "nng_hmc", ess="ap", seconds="sample_s", other="nng_hmc"
    )
    assert found is not None
    assert found.estimate == (1.0, 0.0)


def test_seconds_are_those_of_the_stated_iterations(find: Find, results: Results) -> None:
    cells = {("lr_200", "hmc"): {"s_per_iter": 0.3}}
    found = find(results(cells), "cell", "lr_200", "hmc", column="s_per_iter", iterations=1000)
    assert found is not None
    assert_allclose(found.estimate, (300.0, 30.0))


def test_a_network_of_another_share_of_the_draws_does_not_measure_the_number(find: Find, results: Results) -> None:
    rows = {
        ("news", name): {"ap": 0.6, "training_draws": draws}
        for name, draws in (("hmc", math.nan), ("nng_hmc_10", 900.0))
    }
    arguments = {"column": "ap", "training_draws": 1000}
    assert find(results(rows), "cell", "news", "nng_hmc_10", **arguments) is None
    rows["news", "nng_hmc_10"]["training_draws"] = 1000.0
    assert find(results(rows), "cell", "news", "nng_hmc_10", **arguments) is not None


def test_a_missing_column_is_named(make: Make, results: Results) -> None:
    number = make(problem="cover_type", sampler="nng_hmc", arguments={"column": "ess_mean"})
    with pytest.raises(StoreError, match=r"line 2, table1/cover_type/nng_hmc, ap: .* lacks the column 'ess_mean'"):
        measured(results(COVER), number)
