"""The table of marginals against the draws behind it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

from rnshmc.random import stream
from rnshmc.results.marginals import MARGINAL_COLUMNS, marginal_distances, marginal_table, selected_coordinates
from rnshmc.results.posterior import ProblemChains
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array

MEAN, COVARIANCE = np.array([1.0, -2.0, 5.0]), np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 4.0]])


@pytest.fixture(scope="module")
def chains() -> ProblemChains:
    return ProblemChains.of([stored("hmc", exact_draws("hmc"))])


def exact_draws(name: str) -> Array:
    return np.asarray(stream(1, "marginals", name).multivariate_normal(MEAN, COVARIANCE, size=50_000))


def stored(sampler: str, draws: Array) -> StoredChain:
    settings = {"problem": "bank", "sampler": sampler, "chain": 1}
    return StoredChain(draws, {}, settings, phases={}, origin="real", provenance={})


def test_coordinates_of_fifty_are_those_of_the_paper() -> None:
    assert selected_coordinates(50) == [0, 10, 20, 30, 40]
    assert selected_coordinates(2) == [0, 1]


def test_each_coordinate_and_each_pair_has_its_density(chains: ProblemChains) -> None:
    table = marginal_table(chains, [0, 1, 2])
    assert tuple(table.columns) == MARGINAL_COLUMNS
    pairs = table.dropna().groupby(["x_coordinate", "y_coordinate"]).size()
    assert list(pairs.index) == [(1, 2), (1, 3), (2, 3)]
    assert table[table["y_coordinate"].isna()].groupby("x_coordinate").size().to_dict() == {1: 60, 2: 60, 3: 60}


def test_a_joint_density_is_that_of_the_draws(chains: ProblemChains) -> None:
    cells = marginal_table(chains, [0, 1]).dropna()
    true = multivariate_normal(MEAN[:2], COVARIANCE[:2, :2]).pdf(cells[["x", "y"]].to_numpy())
    # Scott's width h = 0.165 lowers the peak by h^2 (2.7%), a bit more along the correlation; the counts of a cell
    # leave 1 / sqrt(4 pi h^2 p n) = 1.9% of the peak. Over 20 seeds the largest error
    # of all cells is 6.1% with a spread of 0.9%: eight of these.
    assert_allclose(cells["density"], true, atol=0.13 * true.max())


def test_the_distance_of_two_samplers_is_that_of_their_laws() -> None:
    shift = np.array([1.0, 0.0, 0.0])
    chains = ProblemChains.of([stored("hmc", exact_draws("hmc")), stored("rns_hmc", exact_draws("rns_hmc") + shift)])
    distances = marginal_distances(marginal_table(chains, [0, 2]))
    # Two normal laws one sd apart: 2 Phi(1/2) - 1. Equal laws: noise. Over 20 seeds the errors are
    # -0.002 and 0.009 with spreads of 0.0024 and 0.0014: seven of these and more.
    assert_allclose(distances.to_numpy(), [2 * float(norm.cdf(0.5)) - 1, 0.0], atol=0.02)
    assert list(distances.index) == [1, 3]


def test_a_single_sampler_has_no_distance(chains: ProblemChains) -> None:
    assert marginal_distances(marginal_table(chains, [0])).empty
