"""A stand-in of which only the size is real is marked as such."""

import numpy as np
from scipy.stats import kstest

from rnshmc.datasets.simulate import plain_standin
from rnshmc.random import stream


def test_it_has_the_size_and_the_assumptions_that_it_states() -> None:
    data = plain_standin(20000, 10, stream(1, "plain"))
    assert data.X.shape == (20000, 10)
    assert data.origin == "stand-in"
    assert kstest(data.X.ravel(), "norm").pvalue > 1e-6
    # The share of labels 1 has mean 1/2 and standard error at most 1 / (2 sqrt(n)).
    assert abs(data.y.mean() - 0.5) < 5 / (2 * np.sqrt(20000))


def test_the_labels_depend_on_the_covariates() -> None:
    data = plain_standin(20000, 10, stream(1, "plain"))
    differences = data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)
    # Independent labels: each squared difference has mean 4 / n, their sum over 10 columns is under 30 * 4 / n.
    assert differences @ differences > 30 * 4 / 20000


def test_equal_streams_give_equal_data() -> None:
    one, same, other = (plain_standin(100, 4, stream(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert (one.X != other.X).all()
