"""Relative error of the mean against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.diagnostics.rem import iteration_grid, relative_error_of_mean
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from tests.conftest import z_bound


def test_rem_of_a_ramp_is_known() -> None:
    # The mean of 1..t is (t + 1) / 2; against (3, 4) t the error of ((t + 1) / 2, 0) is exact.
    draws = np.column_stack([np.arange(1.0, 11.0), np.zeros(10)])
    grid = np.array([1, 5, 10])
    expected = np.hypot((grid + 1) / 2 - 3.0, 4.0) / 5.0
    assert_allclose(relative_error_of_mean(draws, np.array([3.0, 4.0]), grid), expected, rtol=1e-14)


def test_rem_falls_with_the_square_root_of_the_iterations() -> None:
    n, d, mean = 10_000, 400, 2.0
    draws = mean + stream(1, "rem").normal(size=(n, d))
    grid = np.array([100, 1_000, 10_000])
    rem = relative_error_of_mean(draws, np.full(d, mean), grid)
    # ||error||^2 is chi-square(d) / t: its root has relative standard deviation 1 / sqrt(2 d).
    assert_allclose(rem, 1 / (mean * np.sqrt(grid)), rtol=z_bound(3) / np.sqrt(2 * d))


def test_grid_is_increasing_from_the_first_to_the_last_iteration() -> None:
    for first, last in ((1, 1), (1, 7), (1, 5_000), (1_001, 10_000)):
        grid = iteration_grid(first, last)
        assert (grid[0], grid[-1]) == (first, last)
        assert (np.diff(grid) > 0).all()
        assert len(grid) <= 100
    assert_array_equal(iteration_grid(1, 1), [1])


def test_a_zero_reference_is_refused() -> None:
    with pytest.raises(ParameterError, match="zero"):
        relative_error_of_mean(np.ones((4, 2)), np.zeros(2), np.array([1]))


@pytest.mark.parametrize("iterations", [[0, 1], [5]])
def test_iterations_outside_the_chain_are_refused(iterations: list[int]) -> None:
    with pytest.raises(ParameterError, match=r"expected 1\.\.4"):
        relative_error_of_mean(np.ones((4, 2)), np.ones(2), np.array(iterations))


def test_a_reference_of_another_dimension_is_refused() -> None:
    with pytest.raises(ParameterError, match="do not fit"):
        relative_error_of_mean(np.ones((4, 2)), np.ones(3), np.array([1]))
