"""The simulated data of paper B follow their laws."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, kstest
from scipy.stats import t as student

from rnshmc.datasets.synthetic import simulate_garch, simulate_normal_logistic, simulate_regression
from rnshmc.errors import ParameterError
from rnshmc.random import stream

GARCH: dict[str, Any] = {"alpha": (0.1, 0.2, 0.1), "beta": (0.4,)}


def test_the_covariates_are_standard_normal() -> None:
    data = simulate_normal_logistic(2000, 20, stream(1, "b"))
    assert data.X.shape == (2000, 20)
    assert data.origin == "simulated"
    assert kstest(data.X.ravel(), "norm").pvalue > 1e-6


def test_the_labels_follow_the_logistic_law_of_coefficients_between_minus_one_and_one() -> None:
    """The score at the true coefficients is asymptotically normal, with the information as its covariance."""
    n, d = 20000, 5
    data = simulate_normal_logistic(n, d, stream(2, "b"))
    rng = stream(2, "b")
    rng.standard_normal((n, d))
    beta = rng.uniform(-1.0, 1.0, d)
    p = expit(data.X @ beta)
    score = data.X.T @ (data.y - p)
    information = (data.X * (p * (1 - p))[:, None]).T @ data.X
    # Chi-square with d = 5 degrees of freedom under the law.
    assert score @ np.linalg.solve(information, score) < chi2(d).isf(1e-6)


def test_a_garch_series_has_normal_innovations_and_the_stationary_variance() -> None:
    n = 20000
    y = simulate_garch(n, **GARCH, rng=stream(3, "b")).arrays["y"]
    (a0, a1, a2), (b1,) = GARCH["alpha"], GARCH["beta"]
    h = np.full(len(y), a0 / (1 - a1 - a2 - b1))
    for t in range(2, len(y)):
        h[t] = a0 + a1 * y[t - 1] ** 2 + a2 * y[t - 2] ** 2 + b1 * h[t - 1]
    innovations = stream(3, "b").standard_normal(1000 + n)[-n:]
    # A wrong start is forgotten at the rate of b1^t: after 100 steps it is below rounding errors.
    np.testing.assert_allclose((y / np.sqrt(h))[100:], innovations[100:], rtol=1e-12)
    # Squares are correlated; in batches that are longer than their memory the means are nearly independent.
    batches = (y**2).reshape(100, 200).mean(axis=1)
    z = (batches.mean() - h[0]) / (batches.std(ddof=1) / 10)
    # The law of a batch mean is skewed, which a share of 1e-7 leaves room for.
    assert abs(z) < student(99).isf(1e-7 / 2)


def test_outputs_are_a_standardised_polynomial_of_normal_inputs() -> None:
    arrays = simulate_regression(500, noise_sd=0.0, rng=stream(4, "b")).arrays
    X, y = arrays["X"], arrays["y"]
    assert X.shape == (500, 4)
    assert kstest(X.ravel(), "norm").pvalue > 1e-6
    assert (y.mean(), y.std(ddof=1)) == pytest.approx((0.0, 1.0), abs=1e-13)
    polynomial = X[:, 0] + X[:, 1] ** 2 - X[:, 2] * X[:, 3]
    assert np.corrcoef(polynomial, y)[0, 1] == pytest.approx(1.0, rel=1e-13)


def test_noise_is_added_before_the_outputs_are_standardised() -> None:
    arrays = simulate_regression(20000, noise_sd=2.0, rng=stream(4, "b")).arrays
    X, y = arrays["X"], arrays["y"]
    polynomial = X[:, 0] + X[:, 1] ** 2 - X[:, 2] * X[:, 3]
    # The variance of the polynomial is 1 + 2 + 1 and that of the noise 4: half of the variance of y is explained.
    assert np.corrcoef(polynomial, y)[0, 1] ** 2 == pytest.approx(0.5, abs=0.05)


def test_equal_streams_give_equal_files_and_other_streams_do_not(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate_garch(50, **GARCH, rng=stream(seed)).save(tmp_path / f"{name}.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as one, np.load(tmp_path / "c.npz") as other:
        assert str(one["origin"]) == "simulated"
        assert (one["y"] != other["y"]).all()


def test_sizes_and_parameters_out_of_range_are_named() -> None:
    with pytest.raises(ParameterError, match="n must be at least 2, got 1"):
        simulate_normal_logistic(1, 5, stream(1))
    with pytest.raises(ParameterError, match="d must be at least 1, got 0"):
        simulate_normal_logistic(10, 0, stream(1))
    with pytest.raises(ParameterError, match="n must be at least 1, got 0"):
        simulate_garch(0, **GARCH, rng=stream(1))
    with pytest.raises(ParameterError, match="n must be at least 2, got 1"):
        simulate_regression(1, noise_sd=1.0, rng=stream(1))
    with pytest.raises(ParameterError, match=r"noise_sd must be .* got -1\.0"):
        simulate_regression(10, noise_sd=-1.0, rng=stream(1))


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [((0.1, 0.5), (0.5,)), ((0.0, 0.5), (0.4,)), ((0.1, -0.1), (0.4,)), ((0.1, 0.5), (-0.4,))],
)
def test_parameters_of_a_series_that_is_not_stationary_are_refused(
    alpha: tuple[float, ...], beta: tuple[float, ...]
) -> None:
    with pytest.raises(ParameterError, match="not those of a stationary GARCH process"):
        simulate_garch(10, alpha=alpha, beta=beta, rng=stream(1))
