"""Tables of posteriors by exact and by network gradients."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.random import stream
from rnshmc.results.marginals import leading_coordinates, marginal_table
from rnshmc.results.network_posteriors import (
    BINS,
    HISTOGRAM_COLUMNS,
    TRACE_COLUMNS,
    exponentials,
    histogram_table,
    single_marginals,
    trace_table,
)
from rnshmc.results.posterior import ProblemChains
from rnshmc.store.chains import StoredChain


def stored(sampler: str, chain: int, n: int) -> StoredChain:
    draws = stream(1, sampler, f"chain{chain}").normal([0.5, -2.0, 1.0], size=(n, 3))
    settings = {"problem": "cover_type", "sampler": sampler, "chain": chain}
    stats = {"accepted": np.arange(n) % 5 != 0}
    return StoredChain(draws, stats, settings, phases={}, origin="stand-in", provenance={})


@pytest.fixture
def chains() -> ProblemChains:
    return ProblemChains.of([stored("sghmc_mh", 1, 30), stored("hmc", 2, 50), stored("hmc", 1, 50)])


def test_leading_coordinates_have_the_largest_means(chains: ProblemChains) -> None:
    assert leading_coordinates(chains.draws("hmc"), 2) == [1, 2]
    assert leading_coordinates(chains.draws("hmc")[:50], 1) == [1]


def test_hyperparameters_are_exponentials_of_what_moves(chains: ProblemChains) -> None:
    moved = exponentials(chains)
    assert_allclose(np.log(moved.draws("hmc")), chains.draws("hmc"))
    assert moved.origin == chains.origin


def test_single_marginals_are_those_of_each_sampler_by_itself(chains: ProblemChains) -> None:
    single = single_marginals(chains, [0, 2])
    assert single["y_coordinate"].isna().all()
    for sampler, members in chains.chains.items():
        whole = marginal_table(replace(chains, chains={sampler: members}), [0, 2])
        wanted = whole[whole["y_coordinate"].isna()]
        found = single[single["sampler"] == sampler]
        for column in ("x_coordinate", "x", "density"):
            assert_array_equal(found[column], wanted[column])


def test_histograms_hold_all_draws_of_each_sampler(chains: ProblemChains) -> None:
    table = histogram_table(chains, [0, 2])
    assert tuple(table.columns) == HISTOGRAM_COLUMNS
    for sampler in chains.chains:
        for coordinate in (0, 2):
            draws = chains.draws(sampler)[:, coordinate]
            part = table[(table["sampler"] == sampler) & (table["coordinate"] == coordinate + 1)]
            edges = np.append(part["low"], part["high"].iloc[-1])
            assert_allclose(edges, np.linspace(draws.min(), draws.max(), BINS + 1))
            counts = np.histogram(draws, bins=edges)[0]
            assert_allclose(part["density"] * np.diff(edges) * len(draws), counts)
            assert counts.sum() == len(draws)
    assert set(table["coordinate"]) == {1, 3}


def test_traces_are_those_of_first_chains_for_as_long_as_all_last(chains: ProblemChains) -> None:
    table = trace_table(chains, 2)
    assert tuple(table.columns) == TRACE_COLUMNS
    assert table.groupby("sampler").size().to_dict() == {"hmc": 30, "sghmc_mh": 30}
    part = table[table["sampler"] == "hmc"]
    assert_array_equal(part["value"], chains.chains["hmc"][0].draws[:30, 2])
    assert part["iteration"].iloc[0] == 1
    assert set(table["coordinate"]) == {3}
    assert set(table["acceptance"]) == {0.8}
    assert set(table["data"]) == {"stand-in"}
