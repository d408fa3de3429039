"""Rank-normalised diagnostics on chains with known values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import ParameterError
from rnshmc.random import stream


def test_independent_draws_have_the_errors_of_independent_draws() -> None:
    chains, n, sd = 4, 2_000, 3.0
    summary = summarise(sd * stream(1, "summary").normal(size=(chains, n, 5)))
    total = chains * n
    # Over 125 coordinates of 25 seeds their relative errors are -1.3%, -2.8%, 0.7% and 0.4%, with spreads of 3.3%,
    # 2.9%, 1.9% and 2.1%, and that of rhat is 0.02% with a spread of 0.03%: six of these and more.
    assert_allclose(summary.ess_bulk, total, rtol=0.22)
    assert_allclose(summary.ess_tail, total, rtol=0.22)
    assert_allclose(summary.mcse_mean, sd / np.sqrt(total), rtol=0.13)
    assert_allclose(summary.mcse_sd, sd / np.sqrt(2 * total), rtol=0.13)
    assert_allclose(summary.rhat, 1.0, atol=0.01)


def test_chains_in_different_places_have_a_large_rhat() -> None:
    draws = stream(1, "apart").normal(size=(2, 500, 2))
    draws[1, :, 1] += 3.0
    rhat = summarise(draws).rhat
    # Over 60 seeds 1.001 and 1.74, with spreads of 0.002 and 0.016.
    assert rhat[0] < 1.05
    assert rhat[1] > 1.5


def test_a_single_chain_has_no_rhat() -> None:
    assert np.isnan(summarise(stream(1, "one").normal(size=(1, 100, 2))).rhat).all()


def test_a_coordinate_that_never_moves_is_one_draw_without_convergence() -> None:
    draws = stream(1, "still").normal(size=(2, 100, 2))
    draws[:, :, 1] = 4.0
    summary = summarise(draws)
    assert_array_equal([summary.ess_bulk[1], summary.ess_tail[1]], [1.0, 1.0])
    assert_array_equal([summary.mcse_mean[1], summary.mcse_sd[1]], [0.0, 0.0])
    assert summary.rhat[1] == np.inf
    assert summary.rhat[0] < 1.2


def test_chains_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"\(chains, n, d\)"):
        summarise(np.zeros((100, 2)))
