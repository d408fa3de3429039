"""Descents in coordinates of any scales: their evaluations, and their ends."""

from collections.abc import Callable

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import Mode, descend
from rnshmc.inference.stages.differences import search_scales
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of

Density = Callable[[Array], tuple[float, Array]]


def settled(density: Density, start: Array, *, has_gradient: bool, budget: int = 2000) -> tuple[Mode, int]:
    """The mode, and the units that it took."""
    function = density if has_gradient else lambda x: density(x)[0]
    exact = evaluations_of(function, len(start), budget=budget, use_gradients=has_gradient)
    archive = Archive.of(exact)
    return settle(archive, descend(archive, start, DEFAULT), stream(1, "scales"), DEFAULT), archive.spent.units


def normal(mean: Array, factor: Array) -> Density:
    """Log density of N(mean, factor factor')."""
    whitener = np.linalg.inv(factor)

    def density(x: Array) -> tuple[float, Array]:
        z = whitener @ (x - mean)
        return -0.5 * float(z @ z), -whitener.T @ z

    return density


def assert_mode_of_normal(mode: Mode, mean: Array, factor: Array) -> None:
    """Within a standard deviation in each direction, and standard deviations known as well as probing checks them.

    The curvature along a random direction is a mean over d eigenvalues, so that one of d times `Probing.near_one` may
    pass where the others are small: a standard deviation off by the root of that.
    """
    assert mode.converged
    assert np.linalg.norm(np.linalg.solve(factor, mode.whitening.centre - mean)) < np.sqrt(len(mean))
    ratios = np.linalg.svd(mode.whitening.factor.T @ factor, compute_uv=False)
    known = np.sqrt(len(mean) * DEFAULT.probing.near_one)
    assert ratios.max() < known
    assert ratios.min() > 1.0 / known


@pytest.mark.parametrize("has_gradient", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_standard_deviations_of_2e_10_60_and_4e4(seed: int, has_gradient: bool) -> None:
    rng = np.random.default_rng(seed)
    scales = np.array([2e-10, 60.0, 4e4])
    mean, factor = scales * rng.standard_normal(3), np.diag(scales)
    for start in (np.zeros(3), scales * rng.standard_normal(3)):
        mode, units = settled(normal(mean, factor), start, has_gradient=has_gradient)
        assert_mode_of_normal(mode, mean, factor)
        assert units < 100


@pytest.mark.parametrize("has_gradient", [True, False])
@pytest.mark.parametrize("dim", [1, 2, 5, 20])
def test_correlated_normals_with_scales_from_1e_12_to_1e12(dim: int, has_gradient: bool) -> None:
    rng = np.random.default_rng(dim)
    scales = np.power(10.0, rng.uniform(-12, 12, dim))
    covariance = np.asarray(np.cov(rng.standard_normal((dim, dim + 3))), dtype=np.float64).reshape(dim, dim)
    factor = np.asarray(scales[:, None] * np.linalg.cholesky(covariance / covariance.max()), dtype=np.float64)
    mean = np.asarray(factor @ rng.standard_normal(dim), dtype=np.float64)
    start = np.asarray(mean + factor @ (3.0 * rng.standard_normal(dim)), dtype=np.float64)
    mode, units = settled(normal(mean, factor), start, has_gradient=has_gradient)
    assert_mode_of_normal(mode, mean, factor)
    assert units < 30 * (dim + 1) * (1 if has_gradient else dim / 4 + 1)


@pytest.mark.parametrize(("has_gradient", "seeds"), [(True, 1), (False, 5)])
def test_a_regression_on_raw_columns(has_gradient: bool, seeds: int) -> None:
    """A child's score on its mother's IQ and a constant, with the logarithm of the residual's standard deviation.

    The two coefficients are correlated by -0.99, and a descent may end some standard deviations from the mode along
    their sum; what is learnt afterwards moves on. Given the data they are of Student's t. Without gradients three runs
    of four are good and take fewer than 2000 units, so that none of five does once in a thousand.
    """
    rng = np.random.default_rng(5)
    iq = rng.normal(100, 15, 434)
    score = 26 + 0.6 * iq + rng.normal(0, 18, 434)
    columns = np.column_stack((np.ones(434), iq))
    best, [squares] = np.linalg.lstsq(columns, score, rcond=None)[:2]

    def density(x: Array) -> tuple[float, Array]:
        rest, precision = score - columns @ x[:2], np.exp(-2 * x[2])
        slope = (rest @ rest) * precision - 434
        return -434 * x[2] - 0.5 * float(rest @ rest) * precision, np.append(columns.T @ rest * precision, slope)

    start = np.random.default_rng(0).uniform(-1, 1, 3)
    function = density if has_gradient else lambda x: density(x)[0]
    runs = [rnshmc.sample(function, start, draws=1000, seed=1 + k, progress_bar=False) for k in range(seeds)]
    variance = np.diag(np.linalg.inv(columns.T @ columns)) * squares / (432 - 2)
    good = [run.outcome for run in runs if run.verdict.level == "good"]
    assert min(one.spent.units for one in good) < 2000
    for one in good:
        assert one.method == "surrogate"
        assert (np.abs(one.mean.value[:2] - best) < z_bound(2 * seeds) * one.mean.standard_error[:2]).all()
        assert (one.mean.standard_error[:2] < 0.1 * np.sqrt(variance)).all()
        np.testing.assert_allclose(one.variance.value[:2], variance, rtol=0.1)


def regression(columns: Array, observed: Array) -> Density:
    """Log density of coefficients and of the logarithm of sigma, with flat priors on them and on sigma."""
    n, k = columns.shape

    def density(x: Array) -> tuple[float, Array]:
        residuals, precision = observed - columns @ x[:k], np.exp(-2.0 * x[k])
        squares = precision * float(residuals @ residuals)
        return -0.5 * squares - (n - 1) * x[k], np.append(precision * residuals @ columns, squares - (n - 1))

    return density


def mode_of(columns: Array, observed: Array) -> Array:
    """The highest point of that density."""
    found, (squares,), *_ = np.linalg.lstsq(columns, observed, rcond=None)
    return np.append(found, 0.5 * np.log(squares / (len(observed) - 1)))


@pytest.mark.parametrize("seed", range(5))
def test_a_regression_is_descended_from_a_million_above_its_mode(seed: int) -> None:
    """By its unknown sigma the potential falls like an exponential function: curvatures far up say little of the next.

    An exponential function falls by a factor of e at each of Newton's steps, here by some 17 of them; secants take
    about twice as many. Where an assumed third derivative outweighed them, 54 evaluations ended at 1e6.
    """
    rng = stream(seed, "regression")
    columns = np.column_stack((np.ones(50), rng.gamma(2.0, 1.0, (50, 5))))
    observed = columns @ np.array([-700.0, 200.0, 100.0, 50.0, 300.0, 200.0]) + 300.0 * rng.standard_normal(50)
    density, start = regression(columns, observed), rng.uniform(-1.0, 1.0, 7)
    assert density(start)[0] < -1e6
    archive = Archive.of(evaluations_of(density, 7, budget=2000))
    assert descend(archive, start, DEFAULT).converged
    assert archive.spent.points < 40


@pytest.mark.parametrize("seed", range(12))
def test_the_ridge_of_a_raw_column_is_probed_along(seed: int) -> None:
    """An intercept and a slope on a column of mean 100 and standard deviation 15, whose correlation is 0.99.

    Curvatures along random directions are means of eigenvalues: a small one, of the ridge, was not seen by them, and
    modes were 3 to 6 standard deviations away.
    """
    rng = stream(seed, "ridge")
    columns = np.column_stack((np.ones(434), rng.normal(100.0, 15.0, 434)))
    observed = columns @ np.array([26.0, 0.6]) + 18.0 * rng.standard_normal(434)
    density, truth = regression(columns, observed), mode_of(columns, observed)
    mode, _ = settled(density, rng.uniform(-1.0, 1.0, 3), has_gradient=True)
    precision = np.exp(-2.0 * truth[2]) * columns.T @ columns
    away = mode.whitening.centre[:2] - truth[:2]
    assert away @ precision @ away < 1.0
    # The lowest point is nearer than draws are, whose potentials are half of d above the mode.
    assert mode.value < -density(truth)[0] + 0.5 * 3.0


@pytest.mark.parametrize("seed", range(40))
def test_steps_change_a_large_log_density_by_more_than_its_rounding(seed: int) -> None:
    """Incomes by height: 1e11 to 1e12 above the mode at the start, where a change of one is rounding.

    Any seed has to pass with any BLAS. Before, one in fifty ended 3 to 45 above the mode: the gradient at the centre
    hid a small curvature, or the batches of probes had run out before all curvatures were near one.
    """
    rng = stream(seed, "incomes")
    columns = np.column_stack((np.ones(1200), rng.normal(67.0, 4.0, 1200)))
    observed = columns @ np.array([-6e4, 1.2e3]) + 1.8e4 * rng.standard_normal(1200)
    density, start = regression(columns, observed), rng.uniform(-1.0, 0.0, 3)
    assert density(start)[0] < -1e11
    mode, _ = settled(density, start, has_gradient=True)
    assert mode.converged
    assert mode.value < -density(mode_of(columns, observed))[0] + 0.5 * 3.0


def test_from_the_truth_no_step_leads_far_from_what_was_seen() -> None:
    """Rates of 1e-5 and 0.02 of a decay, without a gradient, started at the truth: 12 sds at most, not 1e5 times it."""
    times = np.linspace(0.0, 200.0, 40)
    truth = np.array([1e-5, 0.02, 3.0])

    def curve(x: Array) -> Array:
        return np.asarray(x[2] * np.exp(-x[1] * times) + 1e3 * x[0] * times)

    data = curve(truth) + 0.05 * np.random.default_rng(1).standard_normal(40)
    jacobian = np.array([(curve(truth + h) - curve(truth)) / h.sum() for h in np.diag(1e-6 * truth)]) / 0.05
    whitener = np.linalg.cholesky(jacobian @ jacobian.T)
    asked: list[float] = []

    def density(x: Array) -> tuple[float, Array]:
        asked.append(float(np.linalg.norm(whitener.T @ (x - truth))))
        rest = (data - curve(x)) / 0.05
        return -0.5 * float(rest @ rest), np.zeros(3)

    mode, _ = settled(density, truth, has_gradient=False)
    assert mode.converged
    assert max(asked) < 12.0


def test_a_forgotten_minus_sign_is_asked_for() -> None:
    def grows(x: Array) -> tuple[float, Array]:
        return 0.5 * float(x @ x), x

    for has_gradient in (True, False):
        for start in (np.ones(3), np.zeros(3), np.array([0.3])):
            with pytest.raises(
                ParameterError, match=r"target: the density grows without bound.*minus the log density\?"
            ):
                settled(grows, start, has_gradient=has_gradient, budget=200)


@pytest.mark.parametrize("has_gradient", [True, False])
def test_a_long_fall_to_where_data_are_precise_is_no_forgotten_minus_sign(has_gradient: bool) -> None:
    """exp(x) = e^2, measured to a thousandth: from below, steps begin at 1e-5 and double without curvature."""

    def density(x: Array) -> tuple[float, Array]:
        rest = (np.exp(x) - np.exp(2.0)) / 1e-3
        return -0.5 * float(rest @ rest), -rest * np.exp(x) / 1e-3

    mode, _ = settled(density, np.array([-3.0]), has_gradient=has_gradient)
    assert mode.converged
    assert abs(mode.whitening.centre[0] - 2.0) < 1e-3


@pytest.mark.parametrize("has_gradient", [True, False])
def test_a_flat_density_is_reported(has_gradient: bool) -> None:
    def flat(x: Array) -> tuple[float, Array]:
        return 2.5, np.zeros(2)

    with pytest.raises(
        ParameterError, match=r"target: the log density is 2.5 at x0 .* does not depend on the parameters"
    ):
        settled(flat, np.ones(2), has_gradient=has_gradient, budget=100)


def test_an_open_direction_and_heavy_tails_are_not_mistaken_for_a_wrong_sign() -> None:
    def open_direction(x: Array) -> tuple[float, Array]:
        return -0.5 * float(x[0] ** 2), np.array([-x[0], 0.0])

    def cauchy(x: Array) -> tuple[float, Array]:
        return -float(np.log1p(x**2).sum()), -2.0 * x / (1.0 + x**2)

    def separable(x: Array) -> tuple[float, Array]:
        return -float(np.logaddexp(0.0, -x).sum()), np.exp(-np.logaddexp(0.0, x))

    for has_gradient in (True, False):
        assert settled(open_direction, np.ones(2), has_gradient=has_gradient)[0].value < 0.6
        assert settled(cauchy, np.array([20.0, -5.0]), has_gradient=has_gradient)[0].value < 1.0
        assert settled(separable, np.zeros(2), has_gradient=has_gradient)[0].value < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_scales_are_found_above_the_noise(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    """Noise of one in the log density changes it by one over any distance, and is reported."""
    rng = np.random.default_rng(seed)
    exact = evaluations_of(lambda x: -0.5 * float(x @ x) + rng.standard_normal(), 3, use_gradients=False)
    archive = Archive.of(exact)
    (first,) = archive.evaluate(np.full((1, 3), 0.5), "mode")
    whitening, _ = search_scales(archive, first, Whitening(first.point, np.eye(3)), DEFAULT, "mode")
    assert np.abs(np.log10(np.diag(whitening.factor))).max() < 1.5
    assert "target: the log density is noisy" in caplog.text


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("has_gradient", [True, False])
@pytest.mark.parametrize("at_mode", [True, False])
def test_a_posterior_of_everyday_scales_is_sampled(has_gradient: bool, at_mode: bool, seed: int) -> None:
    """Standard deviations of 2e-10, 60 and 4e4, from the mode, where the gradient is zero, and from a draw.

    The first steps are far too long for one of them; slopes there said that others are level.
    """
    scales = np.array([2e-10, 60.0, 4e4])

    def density(x: Array) -> tuple[float, Array] | float:
        value = -0.5 * float(((x / scales) ** 2).sum())
        return (value, -x / scales**2) if has_gradient else value

    start = np.zeros(3) if at_mode else scales * np.random.default_rng(1).standard_normal(3)
    found = rnshmc.sample(density, start, draws=400, seed=seed)
    assert found.verdict.level == "good"
    assert found.spent.units < 200
    assert (np.abs(found.sd.value / scales - 1.0) < 0.2).all()
