"""The simulated data follow the law of paper A, section 5.1."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, kstest

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.errors import ParameterError
from rnshmc.random import stream


def test_the_covariates_are_a_constant_and_normal_with_sd_one_tenth() -> None:
    data = simulate_logistic(20000, 50, stream(1, "lr_simulated"))
    assert data.X.shape == (20000, 50)
    assert data.origin == "simulated"
    np.testing.assert_array_equal(data.X[:, 0], 0.1)
    assert kstest(10 * data.X[:, 1:].ravel(), "norm").pvalue > 1e-6


def test_the_labels_follow_the_logistic_law_of_coefficients_from_the_unit_cube() -> None:
    """The score at the true coefficients is asymptotically normal."""
    n, d = 20000, 5
    data = simulate_logistic(n, d, stream(2, "lr_simulated"))
    rng = stream(2, "lr_simulated")
    rng.standard_normal((n, d - 1))
    beta = rng.uniform(size=d)
    p = expit(data.X @ beta)
    score = data.X.T @ (data.y - p)
    information = (data.X * (p * (1 - p))[:, None]).T @ data.X
    # Chi-square with d = 5 degrees of freedom under the law.
    assert score @ np.linalg.solve(information, score) < chi2(d).isf(1e-6)


def test_equal_streams_give_equal_data_and_other_streams_do_not() -> None:
    one, same, other = (simulate_logistic(100, 4, stream(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert (one.X[:, 1] != other.X[:, 1]).all()


def test_sizes_out_of_range_are_named() -> None:
    with pytest.raises(ParameterError, match="n = 1, d = 50"):
        simulate_logistic(1, 50, stream(1))
    with pytest.raises(ParameterError, match="n = 100, d = 0"):
        simulate_logistic(100, 0, stream(1))
