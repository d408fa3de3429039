import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from rnshmc.errors import FitError, NumericalError, ParameterError, StoreError
from rnshmc.random import stream
from rnshmc.surrogates.gaussian_process import GaussianProcess, Scale, log_likelihood
from rnshmc.surrogates.marginal_likelihood import Hyperparameters
from rnshmc.types import Array, Potential
from tests.surrogates.normal_density import likelihood_rounding, log_density

EPS = float(np.finfo(np.float64).eps)
DIM, N = 3, 120
SETTINGS = [Hyperparameters(3.0, 1.5, 0.2), Hyperparameters(0.5, 0.3, 1.0), Hyperparameters(8.0, 4.0, 0.1)]

pytestmark = pytest.mark.filterwarnings("error")


def training_set(n: int = N) -> tuple[Array, Array]:
    """States from a normal distribution, and a potential with a skewed part and noise."""
    rng = stream(5, "tests", "gaussian process")
    q = rng.standard_normal((n, DIM))
    return q, 7.0 + 0.5 * (q**2).sum(axis=1) + np.exp(0.3 * q[:, 0]) + 0.05 * rng.standard_normal(n)


def fit(q: Array, u: Array, *, max_evaluations: int = 100) -> GaussianProcess:
    return GaussianProcess.fit(q, u, rng=stream(5, "tests", "fit"), max_evaluations=max_evaluations)


def kernel(a: Array, b: Array, h: Hyperparameters | GaussianProcess) -> Array:
    """K(a_i, b_j), one difference at a time."""
    differences = a[:, np.newaxis] - b[np.newaxis]
    return np.asarray(h.amplitude**2 * np.exp(-(differences**2).sum(axis=2) / (2 * h.length_scale**2)))


def condition(q: Array, h: Hyperparameters | GaussianProcess) -> float:
    return float(np.linalg.cond(kernel(q, q, h) + h.noise_sd**2 * np.eye(len(q))))


@pytest.fixture(scope="module")
def process() -> GaussianProcess:
    return fit(*training_set())


def test_it_is_a_potential(process: GaussianProcess) -> None:
    assert isinstance(process, Potential)
    assert process.dim == DIM


@pytest.mark.parametrize("h", SETTINGS)
def test_marginal_likelihood_is_the_normal_density_of_the_targets(h: Hyperparameters) -> None:
    q, u = training_set()
    t = u - u.min()
    value, _ = log_likelihood(cdist(q, q, "sqeuclidean"), t, h)
    covariance = kernel(q, q, h) + h.noise_sd**2 * np.eye(N)
    assert value == pytest.approx(log_density(t, covariance), rel=0, abs=likelihood_rounding(covariance, t))


@pytest.mark.parametrize("h", SETTINGS)
def test_gradient_of_the_likelihood_is_its_slope(h: Hyperparameters, assert_slope: Callable[..., None]) -> None:
    q, u = training_set()
    squared_distances, t = cdist(q, q, "sqeuclidean"), u - u.min()
    logarithms = np.log(dataclasses.astuple(h))
    for direction in 0.2 * np.vstack([np.eye(3), [1.0, -1.0, 1.0]]):
        assert_slope(
            lambda x: log_likelihood(squared_distances, t, Hyperparameters(*np.exp(x)))[0],
            log_likelihood(squared_distances, t, h)[1] @ direction,
            logarithms,
            direction,
            relative_error=10 * EPS * condition(q, h),
        )


def test_scikit_learn_has_the_same_likelihood_slopes_and_mean(process: GaussianProcess) -> None:
    q, u = training_set()
    t = u - u.min()
    covariance = ConstantKernel(process.amplitude**2) * RBF(process.length_scale) + WhiteKernel(process.noise_sd**2)
    other = GaussianProcessRegressor(covariance, alpha=0.0, optimizer=None).fit(q, t)
    theirs, slopes = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
    h = Hyperparameters(process.amplitude, process.length_scale, process.noise_sd)
    value, gradient = log_likelihood(cdist(q, q, "sqeuclidean"), t, h)
    rounding = 10 * EPS * condition(q, process)
    assert process.log_marginal_likelihood == pytest.approx(theirs, rel=rounding)
    assert value == pytest.approx(theirs, rel=rounding)
    # Theirs are slopes in the logarithms of the variances.
    assert gradient == pytest.approx(slopes * [2.0, 1.0, 2.0], abs=rounding * N)
    elsewhere = stream(5, "tests", "elsewhere").standard_normal((20, DIM))
    assert process.predict(elsewhere) == pytest.approx(other.predict(elsewhere), rel=rounding)


def test_the_search_ends_where_the_likelihood_is_flat_and_higher_than_where_it_began(process: GaussianProcess) -> None:
    q, u = training_set()
    assert process.search == "converged"
    h = Hyperparameters(process.amplitude, process.length_scale, process.noise_sd)
    _, gradient = log_likelihood(cdist(q, q, "sqeuclidean"), u - u.min(), h)
    assert np.abs(gradient).max() < 1.0
    assert process.log_marginal_likelihood > fit(q, u, max_evaluations=1).log_marginal_likelihood
    # Noise of standard deviation 0.05, seen in what N = 120 points leave free.
    assert process.noise_sd == pytest.approx(0.05, rel=0.3)


def test_mean_is_the_conditional_mean_and_gradient_its_derivative(process: GaussianProcess) -> None:
    q, u = training_set()
    x = stream(5, "tests", "mean").standard_normal(DIM)
    K = kernel(q, q, process) + process.noise_sd**2 * np.eye(N)
    k = kernel(x[np.newaxis], q, process)[0]
    weights = np.linalg.solve(K, u - u.min())
    rounding = 10 * EPS * np.linalg.cond(K) * np.abs(weights) @ k
    assert process.value(x) == pytest.approx(k @ weights, abs=rounding)
    assert process.gradient(x) == pytest.approx(
        (k * weights) @ (q - x) / process.length_scale**2, abs=rounding * np.abs(q - x).max() / process.length_scale**2
    )


@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0])
def test_gradient_is_the_slope_of_the_value(
    process: GaussianProcess, scale: float, assert_slope: Callable[..., None]
) -> None:
    rng = stream(5, "tests", "slope")
    q, direction = scale * rng.standard_normal(DIM), rng.standard_normal(DIM)
    # The terms of the mean cancel, so its round-off is relative to them.
    terms = np.abs(process.weights) @ kernel(process.centres, q[np.newaxis], process)[:, 0]
    relative_error = float(10 * EPS * terms / abs(process.value(q)))
    assert_slope(process.value, process.gradient(q) @ direction, q, direction, relative_error=relative_error)


def test_value_and_grad_and_predict_are_the_same_function(process: GaussianProcess) -> None:
    states = stream(5, "tests", "states").standard_normal((600, DIM))  # more than two blocks, the last one not full
    for q in states[:5]:
        value, gradient = process.value_and_grad(q)
        assert value == process.value(q)
        assert gradient.tobytes() == process.gradient(q).tobytes()
    rounding = 100 * EPS * np.abs(process.weights).sum() * process.amplitude**2
    assert process.predict(states) == pytest.approx([process.value(q) for q in states], abs=rounding)
    assert process.predict(states[:0]).shape == (0,)


def test_residuals_are_those_of_the_training_set_and_the_noise_variance_times_the_weights(
    process: GaussianProcess,
) -> None:
    q, u = training_set()
    assert process.train_residual_sd == pytest.approx(np.std(process.predict(q) - u), rel=1e-12)
    # t - K w = sigma^2 w, and terms of size |w| sigma_f^2 cancel on the left.
    rounding = 10 * EPS * np.abs(process.weights).sum() * process.amplitude**2
    assert process.train_residual_sd == pytest.approx(process.noise_sd**2 * process.weights.std(), abs=rounding)


@pytest.mark.parametrize("distance", [1e3, 1e100])
def test_far_out_the_mean_returns_to_zero(process: GaussianProcess, distance: float) -> None:
    value, gradient = process.value_and_grad(np.full(DIM, distance))
    assert value == 0.0
    assert np.array_equal(gradient, np.zeros(DIM))


def test_a_constant_or_a_shift_of_the_states_makes_no_difference(process: GaussianProcess) -> None:
    q, u = training_set()
    moved = fit(q + 64.0, u + 1024.0)
    # The search amplifies the rounding of the shifted training set; it ends within its tolerance of the same maximum.
    assert moved.length_scale == pytest.approx(process.length_scale, rel=1e-2)
    assert moved.predict(q[:20] + 64.0) == pytest.approx(process.predict(q[:20]), abs=0.1 * process.noise_sd)


def test_repeated_states_do_no_harm() -> None:
    q, u = training_set(40)
    process = fit(np.vstack([q, q[:10]]), np.concatenate([u, u[:10]]))
    assert process.train_residual_sd < 0.2 * np.std(u)


def test_potentials_without_noise_are_interpolated() -> None:
    q = training_set()[0]
    u = 0.5 * (q**2).sum(axis=1)
    process = fit(q, u)
    fresh = stream(5, "tests", "fresh").standard_normal((50, DIM))
    residuals = process.predict(fresh) - 0.5 * (fresh**2).sum(axis=1)
    assert np.std(residuals) < 0.01 * np.std(u)


def test_fitting_leaves_its_arguments_alone_and_uses_no_random_numbers() -> None:
    q, u = training_set(30)
    rng = stream(5, "tests", "unused")
    GaussianProcess.fit(q, u, rng=rng)
    assert rng.random() == stream(5, "tests", "unused").random()
    assert np.array_equal(q, training_set(30)[0])
    assert np.array_equal(u, training_set(30)[1])


def test_fitted_processes_do_not_change(process: GaussianProcess) -> None:
    for array in (process.centres, process.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        process.noise_sd = 1.0  # type: ignore[misc]


def test_report_is_json_and_holds_the_hyperparameters(process: GaussianProcess) -> None:
    report = json.loads(json.dumps(process.report(), allow_nan=False))
    for name in ("amplitude", "length_scale", "noise_sd", "log_marginal_likelihood", "train_residual_sd", "search"):
        assert report[name] == getattr(process, name)
    assert (report["centres"], report["training_states"]) == (N, N)
    assert "weights" not in report


def test_save_and_load_keep_every_byte(process: GaussianProcess, tmp_path: Path) -> None:
    process.save(tmp_path / "process.npz")
    loaded = GaussianProcess.load(tmp_path / "process.npz")
    loaded.save(tmp_path / "again.npz")
    assert (tmp_path / "process.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    assert loaded.report() == process.report()
    q = stream(5, "tests", "load").standard_normal(DIM)
    assert loaded.gradient(q).tobytes() == process.gradient(q).tobytes()


def test_files_that_are_not_processes_are_named(process: GaussianProcess, tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", centres=process.centres)
    with pytest.raises(StoreError, match=r"other\.npz.*weights"):
        GaussianProcess.load(tmp_path / "other.npz")


def test_bad_training_sets_are_fit_errors() -> None:
    q, u = training_set(10)
    with pytest.raises(FitError, match=r"u .* 10 states, got shape \(9,\)"):
        fit(q, u[:9])
    with pytest.raises(FitError, match="the 10 training states are all equal"):
        fit(np.ones_like(q), u)
    with pytest.raises(FitError, match="the 10 training potentials are all equal"):
        fit(q, np.full(10, 3.0))


def test_settings_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="max_evaluations must be at least 1, got 0"):
        fit(*training_set(10), max_evaluations=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_position_without_finite_norm_is_a_numerical_error(process: GaussianProcess, bad: float) -> None:
    q = np.zeros(DIM)
    q[-1] = bad
    for evaluate in (process.value, process.gradient, process.value_and_grad):
        with pytest.raises(NumericalError, match="Gaussian process"):
            evaluate(q)


def test_hyperparameters_that_are_given_are_not_searched() -> None:
    q, u = training_set()
    searched = fit(q, u)
    given = GaussianProcess.fit(q, u, rng=stream(5, "tests", "fit"), hyperparameters=searched.hyperparameters)
    assert (given.likelihood_evaluations, given.search) == (0, "given")
    assert given.weights.tobytes() == searched.weights.tobytes()


def scaled_fit(scale: Scale) -> GaussianProcess:
    return GaussianProcess.fit(*training_set(), rng=stream(5, "tests", "fit"), max_evaluations=40, scale=scale)


def test_standardised_targets_are_predicted_at_unit_amplitude() -> None:
    q, u = training_set()
    process = scaled_fit("sd")
    # The exponential of a logarithm that is zero up to rounding.
    assert abs(process.amplitude - 1.0) <= 8 * np.finfo(float).eps
    matrix = kernel(q, q, process) + process.noise_sd**2 * np.eye(N)
    where = stream(5, "tests", "elsewhere").standard_normal((20, DIM))
    expected = u.std() * kernel(where, q, process) @ np.linalg.solve(matrix, (u - u.mean()) / u.std())
    rounding = 100 * EPS * condition(q, process) * float(np.abs(expected).max())
    np.testing.assert_allclose(process.predict(where), expected, rtol=0, atol=rounding)


def test_unit_amplitude_maximises_its_likelihood_in_the_other_two() -> None:
    q, u = training_set()
    process = scaled_fit("sd")
    found = Hyperparameters(process.amplitude, process.length_scale, process.noise_sd)
    value, gradient = log_likelihood(cdist(q, q, "sqeuclidean"), (u - u.mean()) / u.std(), found)
    assert process.search == "converged"
    assert value == pytest.approx(process.log_marginal_likelihood, rel=1e-9)
    # The search ends at a slope of 0.1, or where an iteration gains less than 1e-8 of the likelihood.
    assert np.all(np.abs(gradient[1:]) < 0.5)
    assert abs(gradient[0]) > 0.5


def test_the_published_process_is_that_of_scikit_learn_on_centred_targets_times_their_sd() -> None:
    """Which starts its search at unit hyperparameters, and does not scale what it is given."""
    q, u = training_set()
    process = scaled_fit("centred")
    covariance = RBF(1.0) + WhiteKernel(1.0)
    start, end = (GaussianProcessRegressor(covariance, alpha=0.0, optimizer=how) for how in (None, "fmin_l_bfgs_b"))
    for other in (start, end):
        other.fit(q, u - u.mean())
    # The search ends at a slope of 0.1 of the log likelihood; what it may gain from there is a small part of that.
    theirs = end.log_marginal_likelihood_value_
    assert process.log_marginal_likelihood == pytest.approx(theirs, abs=0.05)
    assert theirs > start.log_marginal_likelihood_value_ + 10.0
    same = RBF(process.length_scale) + WhiteKernel(process.noise_sd**2)
    fixed = GaussianProcessRegressor(same, alpha=0.0, optimizer=None).fit(q, u - u.mean())
    elsewhere = stream(5, "tests", "elsewhere").standard_normal((20, DIM))
    expected = u.std() * fixed.predict(elsewhere)
    rounding = 100 * EPS * condition(q, process) * float(np.abs(expected).max())
    np.testing.assert_allclose(process.predict(elsewhere), expected, rtol=0, atol=rounding)


def test_a_scale_that_is_none_is_named() -> None:
    with pytest.raises(ParameterError, match="scale: expected one of amplitude, sd, centred, got 'median'"):
        scaled_fit("median")  # type: ignore[arg-type]
