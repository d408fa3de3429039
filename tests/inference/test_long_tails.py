"""Standard errors of means of variables whose tail few draws have seen."""

import numpy as np

from rnshmc.inference.result.estimates import excess_variance
from tests.conftest import z_bound

DRAWS, MEANS = 10000, 40


def test_draws_of_a_normal_variable_and_its_square_lack_nothing() -> None:
    """Their tails have shapes of 0 and below; the standard error of a fit to 300 of them is 0.06."""
    normal = np.random.default_rng(1).standard_normal((DRAWS, MEANS))
    assert not excess_variance(normal).any()
    assert not excess_variance(normal**2 - 1.0).any()
    assert excess_variance(normal[:, 0]).shape == ()


def test_means_of_a_funnel_s_squares_have_errors_that_hold() -> None:
    """exp(v) z^2 with v of N(0, 9): by the draws alone, a mean is often ten standard errors too low."""
    rng = np.random.default_rng(2)
    values = np.exp(3.0 * rng.standard_normal((DRAWS, MEANS))) * rng.standard_normal((DRAWS, MEANS)) ** 2
    error = values.mean(axis=0) - np.exp(4.5)
    plain = values.var(axis=0) / DRAWS
    bound = z_bound(MEANS)
    assert np.abs(error / np.sqrt(plain)).max() > bound
    assert np.abs(error / np.sqrt(plain + excess_variance(values - values.mean(axis=0)))).max() < bound
