"""The agreement check passes equal means and detects different ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from rnshmc.diagnostics.agreement import compare_means, pool_means
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import FAILURE

D, N = 25, 2_000


def estimate(name: str, shift: float = 0.0) -> tuple[Array, Array]:
    draws = stream(1, "agreement", name).normal(size=(N, D))
    draws[:, 3] += shift
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(N)


def test_exact_draws_agree() -> None:
    result = compare_means(*estimate("a"), *estimate("b"), level=FAILURE)
    assert result.agrees
    assert result.n_coordinates == D
    assert result.max_abs_z < result.threshold


def test_a_shift_of_one_coordinate_is_found() -> None:
    # Nine errors of the difference, against a threshold of 3.5: missed with probability Phi(-5.5).
    shift = 9 * np.sqrt(2 / N)
    assert not compare_means(*estimate("a", shift), *estimate("b")).agrees


def test_equal_means_are_called_different_no_more_often_than_the_level() -> None:
    trials, level = 2_000, 0.05
    rng = stream(1, "level")
    error = np.ones(D)
    alarms = sum(
        not compare_means(rng.normal(size=D), error, rng.normal(size=D), error, level=level).agrees
        for _ in range(trials)
    )
    # For independent coordinates the bound is nearly attained: 1 - (1 - level / d)^d is 0.0488.
    low, high = binom.interval(1 - FAILURE, trials, 1 - (1 - level / D) ** D)
    assert low <= alarms <= high


def test_z_measures_in_errors_of_the_difference() -> None:
    result = compare_means(np.array([1.0, 0.0]), np.array([3.0, 1.0]), np.array([6.0, 0.0]), np.array([4.0, 1.0]))
    assert_allclose(result.max_abs_z, 1.0)


def test_a_chain_that_never_moved_does_not_agree() -> None:
    still = np.zeros(2)
    assert compare_means(still, still, np.ones(2), still).max_abs_z == np.inf
    assert compare_means(still, still, still, still).agrees


def test_pooling_keeps_the_errors_within_the_chains() -> None:
    means = np.array([[0.0], [10.0]])
    mean, mcse = pool_means(means, np.array([[3.0], [4.0]]))
    assert_allclose(mean, [5.0])
    assert_allclose(mcse, [2.5])


def test_bad_arguments_are_named() -> None:
    one, two = np.ones(1), np.ones(2)
    with pytest.raises(ParameterError, match="level"):
        compare_means(one, one, one, one, level=0.0)
    with pytest.raises(ParameterError, match="one length"):
        compare_means(one, one, two, two)
