"""What is measured on the table of results."""

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


def test_samplers_are_compared_with_the_errors_of_both(find: Find, results: Results) -> None:
    tables = results(COVER, data="stand-in")
    seconds = find(tables, "ratio", "cover_type", "nng_hmc", column="s_per_iter", other="sghmc_mh")
    assert seconds is not None
    assert_allclose(seconds.estimate, (2.0, 2.0 * math.hypot(0.1, 0.1)))
    assert seconds.other_data
    gap = find(tables, "difference", "cover_type", "nng_hmc", column="ap", other="sghmc_mh")
    assert gap is not None
    assert_allclose(gap.estimate, (0.3, math.hypot(0.06, 0.03)))
    assert find(tables, "ratio", "cover_type", "nng_hmc", column="ap", other="hmc") is None


def test_effective_sizes_are_compared_at_equal_draws(find: Find, results: Results) -> None:
    tables = results(COVER)
    tables["results"]["draws"] = [600, 1200]
    ratio = find(tables, "ess_ratio", "cover_type", "nng_hmc", column="truncated_ess_median", other="sghmc_mh")
    efficiency = find(tables, "relative_efficiency", "cover_type", "nng_hmc", **EFFICIENCY)
    assert ratio is not None
    assert efficiency is not None
    assert_allclose([ratio.estimate.value, efficiency.estimate.value], [6.0, 3.0])


def test_the_effective_size_of_a_single_chain_has_an_error_in_a_ratio(find: Find, results: Results) -> None:
    tables = results(COVER, chains=1)
    tables["results_se"]["truncated_ess_median"] = math.nan
    ratio = find(tables, "ess_ratio", "cover_type", "nng_hmc", column="truncated_ess_median", other="sghmc_mh")
    assert ratio is not None
    assert_allclose(ratio.estimate, (3.0, 3.0 * math.sqrt(ONE_CHAIN / 90 + ONE_CHAIN / 30)))
    tables["results_se"]["sample_s"] = math.nan
    efficiency = find(tables, "relative_efficiency", "cover_type", "nng_hmc", **EFFICIENCY)
    assert efficiency is not None
    assert_allclose(efficiency.estimate, (1.5, 1.5 * math.sqrt(ONE_CHAIN / 90 + ONE_CHAIN / 30)))


def test_chains_that_did_not_mix_have_costs_but_no_efficiency_to_compare(find: Find, results: Results) -> None:
    tables = results(COVER)
    tables["results"]["mixed"] = [True, False]
    where = ("cover_type", "nng_hmc")
    ratios = [
        find(tables, "ess_ratio", *where, column="truncated_ess_median", other="sghmc_mh"),
        find(tables, "relative_efficiency", *where, **EFFICIENCY),
        find(
            tables,
            "over_best",
            *where,
            ess="ap",
            seconds="s_per_iter",
            others=("sghmc_mh",),
            training_draws=(None, None),
        ),
        find(
            tables,
            "least_efficiency",
            problems=("cover_type",),
            samplers=("nng_hmc", "sghmc_mh"),
            other="nng_hmc",
            ess="ap",
            seconds="s_per_iter",
            training_draws=(None, None),
        ),
    ]
    assert [math.isnan(ratio.estimate.value) for ratio in ratios if ratio is not None] == [True] * 4
    seconds = find(tables, "ratio", *where, column="s_per_iter", other="sghmc_mh")
    size = find(tables, "ess", *where, column="truncated_ess_median")
    assert seconds is not None
    assert size is not None
    assert_allclose([seconds.estimate.value, size.estimate.value], [2.0, 90.0])


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
    found = find(results(cells), "seconds", "lr_200", "hmc", column="s_per_iter", iterations=1000)
    assert found is not None
    assert_allclose(found.estimate, (300.0, 30.0))


def test_shares_of_training_are_compared_on_each_problem(find: Find, results: Results) -> None:
    efficiency = {"hmc": 1.0, "nng_hmc_10": 3.0, "nng_hmc_15": 2.0, "nng_hmc_20": 1.5}
    draws = {"nng_hmc_10": 1000.0, "nng_hmc_15": 1500.0, "nng_hmc_20": 2000.0}
    rows = {
        (problem, sampler): {
            "e": (factor if sampler != "hmc" else 1.0) * value,
            "s": 1.0,
            "ap": value,
            "training_draws": draws.get(sampler, math.nan),
        }
        for problem, factor in (("news", 1.0), ("census", 0.9))
        for sampler, value in efficiency.items()
    }
    columns = {"ess": "e", "seconds": "s"}
    shares = {"samplers": tuple(draws), "training_draws": (1000, 1500, 2000)}
    least = find(results(rows), "least_efficiency", problems=("news", "census"), other="hmc", **shares, **columns)
    assert least is not None
    assert_allclose(least.estimate.value, 1.35)
    best = {"others": ("nng_hmc_15", "nng_hmc_20"), "training_draws": (1000, 1500, 2000), **columns}
    over = find(results(rows), "over_best", "census", "nng_hmc_10", **best)
    assert over is not None
    assert_allclose(over.estimate.value, 1.5)
    gain = {"column": "ap", "other": "nng_hmc_10", "training_draws": (2000, 1000)}
    assert find(results(rows), "difference", "news", "nng_hmc_20", **gain) is not None
    rows["news", "nng_hmc_20"]["training_draws"] = 1900.0
    assert find(results(rows), "difference", "news", "nng_hmc_20", **gain) is None
    assert find(results(rows), "over_best", "news", "nng_hmc_10", **best) is None
    assert find(results(rows), "least_efficiency", problems=("news",), other="hmc", **shares, **columns) is None


def test_a_missing_column_is_named(make: Make, results: Results) -> None:
    number = make(problem="cover_type", sampler="nng_hmc", arguments={"column": "ess_mean"})
    with pytest.raises(StoreError, match=r"line 2, table1/cover_type/nng_hmc, ap: .* lacks the column 'ess_mean'"):
        measured(results(COVER), number)
