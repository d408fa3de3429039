"""Statements about parts of the algorithm."""

from collections.abc import Callable

import numpy as np
import pytest
from peers.known_laws import LogGamma

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.result.resampling import tilted
from rnshmc.inference.stages.correction import Checked, metropolis
from rnshmc.inference.surrogate.chains import run_chains
from rnshmc.inference.surrogate.gradient_conditioning import conditional_covariance, factorise
from rnshmc.inference.surrogate.gradient_kernel import GradientKernel
from rnshmc.inference.surrogate.posterior import fit_posterior
from rnshmc.inference.surrogate.uncertainty import Paths, open_points
from rnshmc.inference.surrogate.weights import smoothed
from rnshmc.inference.surrogate.whitening import Secants, Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound


def test_as_many_secants_as_dimensions_give_the_hessian() -> None:
    rng = stream(1, "secants")
    hessian = np.cov(rng.standard_normal((5, 50))) + np.eye(5)
    steps = rng.standard_normal((5, 5))
    found = Secants.over(steps, steps @ hessian, np.zeros(5), 1e-6)
    np.testing.assert_allclose(found.hessian(), hessian, rtol=0, atol=1e-3)
    assert found.unexplored().shape == (5, 0)


def test_directions_without_a_secant_are_unexplored() -> None:
    steps = np.eye(4)[:2]
    found = Secants.over(steps, 3.0 * steps, np.zeros(2), DEFAULT.curvatures.third_order)
    np.testing.assert_allclose(np.abs(found.unexplored()[:2]), 0.0, atol=1e-12)
    assert found.unexplored().shape == (4, 2)


def test_a_secant_with_a_remainder_has_less_weight() -> None:
    steps = np.eye(3)
    weights = Secants.over(steps, steps, np.array([0.0, 0.01, 1.0]), DEFAULT.curvatures.third_order).weights
    assert weights[0] > weights[1] > weights[2]


def test_a_secant_to_a_potential_near_the_largest_number_weighs_nothing() -> None:
    largest = np.array([0.0, 0.9 * np.finfo(float).max])
    weights = Secants.over(np.eye(2), np.eye(2), largest, DEFAULT.curvatures.third_order).weights
    assert weights[0] > 0.0
    assert weights[1] == 0.0


def test_a_secant_of_no_length_is_left_out() -> None:
    steps = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = Secants.over(steps, steps + 1.0, np.ones(2), DEFAULT.curvatures.third_order)
    np.testing.assert_array_equal(found.steps, steps[1:])


def test_whitening_goes_forth_and_back() -> None:
    rng = stream(1, "whitening")
    whitening = Whitening(rng.standard_normal(3), np.linalg.cholesky(np.cov(rng.standard_normal((3, 9)))))
    x, gradients = rng.standard_normal((2, 4, 3))
    z = whitening.whiten(x)
    np.testing.assert_allclose(whitening.unwhiten(z), x, rtol=0, atol=1e-12)
    steps = whitening.unwhiten(z + 1e-3) - x
    np.testing.assert_allclose((gradients * steps).sum(1), 1e-3 * whitening.slopes(gradients).sum(1), atol=1e-12)


def test_the_surrogate_posterior_has_the_gradient_of_its_values(assert_slope: Callable[..., None]) -> None:
    """Within the wall in any direction, and beyond it along rays only."""
    rng = stream(1, "posterior")
    problem, points = LogGamma(3), rng.standard_normal((12, 3))
    found = [problem.value_and_grad(q) for q in points]
    training = Training(points, np.array([u for u, _ in found]), np.array([g for _, g in found]))
    posterior = fit_posterior(training, Whitening(np.zeros(3), np.eye(3)), rng, DEFAULT.fitting)

    def value(z: Array) -> float:
        return float(posterior.values_and_gradients(z[None])[0][0])

    ray = np.array([2.0, -1.0, 2.0]) / 3.0
    for z, direction in ((ray, np.array([0.6, 0.0, -0.8])), ((posterior.radius + 2.0) * ray, ray)):
        slope = posterior.values_and_gradients(z[None])[1][0] @ direction
        assert_slope(value, slope, z, direction, relative_error=1e-9)


def test_chains_leave_a_skewed_density_as_it_is() -> None:
    """From exact draws, after some transitions, the mean and second moment of each coordinate are the same."""
    rng = stream(1, "chains")
    q = np.log(rng.gamma(3.0, size=(4000, 2)))

    def potential(z: Array) -> tuple[Array, Array]:
        return (np.exp(z) - 3.0 * z).sum(axis=1), np.exp(z) - 3.0

    end = run_chains(
        potential, (q, *potential(q)), transitions=5, step_size=0.7, rng=rng, tuning=DEFAULT.fitting.trajectories
    ).draws[:, -1]
    for change in ((end - q).ravel(), (end**2 - q**2).ravel()):
        assert abs(change.sum()) < z_bound(2) * np.sqrt((change**2).sum())


def test_weights_are_finite_for_any_logarithms() -> None:
    for logs in ([3.0], [1.0, 2.0], [0.0, -np.inf, 700.0], [-np.inf] * 3, list(np.linspace(-900, 900, 60))):
        found = smoothed(np.array(logs))
        assert np.isfinite(found.weights).all()
    assert smoothed(np.zeros(40)).efficiency == pytest.approx(1.0)


def test_the_tail_of_pareto_weights_has_their_shape() -> None:
    log_weights = 0.5 * stream(1, "pareto").exponential(size=4000)
    assert smoothed(log_weights).pareto_k == pytest.approx(0.5, abs=0.15)


def test_metropolis_corrects_a_wrong_surrogate() -> None:
    """Proposals from N(0, 1.5^2), decided by N(0, 1): the draws have the variance of the latter."""
    rng = stream(1, "metropolis")
    points = 1.5 * rng.standard_normal((20000, 1))
    values = 0.5 * points[:, 0] ** 2
    checked = Checked(points, values, values - values / 2.25, np.zeros(20000, dtype=bool))
    exact = metropolis(checked, rng, DEFAULT.correction)
    # Acceptance is about 0.7, so that draws are worth a third of their number and more.
    bound = z_bound() * np.sqrt(2.0 * 3.0 / 20000)
    assert abs(float(exact.draws.var()) - 1.0) < bound
    np.testing.assert_array_equal(exact.potentials, 0.5 * exact.draws[..., 0] ** 2)


def test_a_failed_proposal_is_never_a_draw() -> None:
    values = np.array([1.0, np.inf] * 20)
    checked = Checked(np.arange(40.0)[:, None], values, values, np.isinf(values))
    assert np.isfinite(metropolis(checked, stream(1, "failed"), DEFAULT.correction).potentials).all()


def test_the_variance_of_the_process_is_none_at_its_points_and_whole_far_away() -> None:
    rng = stream(1, "covariance")
    points = rng.standard_normal((9, 2))
    kernel = GradientKernel.fit(
        points, np.cos(points).sum(1), grad=-np.sin(points), rng=rng, lengths=(1.0,), nuggets=(1e-9,)
    )
    variances = kernel.covariance(np.concatenate((points, [[100.0, 0.0]]))).diagonal()
    # The nugget bounds the variance of what is given.
    assert (variances[:9] < 1.01e-9 * kernel.amplitude**2).all()
    assert variances[9] == pytest.approx(kernel.amplitude**2)


def test_the_covariance_given_values_and_gradients_is_that_of_regression() -> None:
    """Given value and slope at 0, in one dimension: k(x - z) - k(x) k(z) (1 + x z / l^2), k = exp(-x^2 / 2 l^2)."""
    length = 1.7
    at = np.array([[-0.5], [0.8], [2.0]])
    origin, with_slope = np.zeros((1, 1)), np.ones(1, dtype=bool)
    factor = factorise(origin, with_slope, length, 0.0, np.zeros((1, 2)))
    found = conditional_covariance(origin, with_slope, length, factor, at)
    x = at[:, 0] / length
    kernel = np.exp(-0.5 * (x[:, None] - x) ** 2)
    alone = np.exp(-0.5 * x**2)
    np.testing.assert_allclose(found, kernel - np.outer(alone, alone) * (1 + np.outer(x, x)), rtol=0, atol=1e-14)


def two_points(errors: Array) -> Paths:
    """Weights of a surrogate at 0 and 1, and of posteriors with these potentials more at 1, shape (paths,)."""
    by_path = np.column_stack((np.ones(len(errors)), np.exp(-errors)))
    return Paths(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]), by_path / by_path.sum(1, keepdims=True))


def test_paths_that_agree_with_the_surrogate_leave_nothing_open() -> None:
    paths = two_points(np.zeros(50))
    np.testing.assert_array_equal(np.concatenate(paths.shift(np.array([[-1.0], [1.0]]))), 0.0)
    assert paths.open_share == 0.0


def test_paths_shift_expectations_by_their_median() -> None:
    """With log 3 less at 1, it has 3/4 of the mass: the mean of -1 and 1 is 1/2, and 1/4 of the mass moves."""
    paths = two_points(np.full(50, -np.log(3.0)))
    shift, variance, excess = paths.shift(np.array([-1.0, 1.0]))
    np.testing.assert_allclose((shift, variance, excess), (0.5, 0.0, 0.25), rtol=0, atol=1e-15)
    assert paths.open_share == pytest.approx(0.25)


def test_points_are_asked_for_where_paths_disagree() -> None:
    rng = stream(1, "open")
    points = np.linspace(-3.0, 3.0, 61)[:, None]
    weights = np.exp(-0.5 * points[:, 0] ** 2)
    open_there = points[:, 0] > 2.0
    by_path = weights * np.exp(3.0 * rng.standard_normal((100, 1)) * open_there)
    paths = Paths(points, weights / weights.sum(), by_path / by_path.sum(1, keepdims=True))
    whitening = Whitening(np.zeros(1), np.eye(1))
    found = open_points(paths, whitening, rng, checks=25, aim=500.0, reach=7.0, most=8)
    assert (found > 2.0).mean() > 0.5
    assert not len(open_points(paths, whitening, rng, checks=25, aim=1e-3, reach=7.0, most=8))


@pytest.mark.parametrize("rest", [0.0, 1e-304, 1e-40])
def test_a_draw_that_has_all_the_weight_asks_for_points(rest: float) -> None:
    """A surrogate with a hole: every moment but the draw's own is open."""
    points = np.linspace(-3.0, 3.0, 61)[:, None]
    weights = np.full(61, rest)
    weights[50] = 1.0
    paths = Paths(points, weights, np.full((100, 61), 1 / 61) + 1e-3 * stream(1, "hole").uniform(size=(100, 61)))
    whitening = Whitening(np.zeros(1), np.eye(1))
    found = open_points(paths, whitening, stream(1, "hole"), checks=25, aim=500.0, reach=7.0, most=8)
    assert found.shape == (8, 1)


def test_tilted_weights_give_features_their_targets() -> None:
    """N(0, 1) tilted to mean 0.3 and variance 0.8: the normal density of these."""
    z = stream(1, "tilted").standard_normal(20000)
    weights = tilted(np.column_stack((z, z**2)), np.array([0.3, 0.8 + 0.09]))
    assert weights is not None
    assert weights @ z / len(z) == pytest.approx(0.3, abs=1e-7)
    assert weights @ z**2 / len(z) == pytest.approx(0.89, abs=1e-7)
    logs = np.log(weights) - 0.5 * z**2 + 0.5 * (z - 0.3) ** 2 / 0.8
    assert logs.std() < 0.1


def test_heavy_tails_have_tilted_weights() -> None:
    z = stream(1, "heavy").standard_t(3.0, size=(20000, 2))
    features, targets = np.column_stack((z - 0.1, (z - 0.1) ** 2)), np.concatenate((np.zeros(2), 2.0 * z.var(axis=0)))
    weights = tilted(features, targets)
    assert weights is not None
    np.testing.assert_allclose(weights @ features / len(z), targets, rtol=0, atol=1e-7 * features.std(axis=0).max())


def test_there_are_no_weights_for_features_that_no_draw_has() -> None:
    assert tilted(np.linspace(-1.0, 1.0, 50)[:, None], np.array([2.0])) is None
