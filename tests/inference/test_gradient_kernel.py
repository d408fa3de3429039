"""A process conditioned on values and gradients interpolates both."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import FitError
from rnshmc.inference.surrogate import gradient_conditioning
from rnshmc.inference.surrogate.covariance_search import ROUGH_ROWS, SEARCH_ROWS, search
from rnshmc.inference.surrogate.gradient_conditioning import solve
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS, NUGGETS, GradientKernel
from rnshmc.random import stream
from rnshmc.surrogates.squared_exponential import spread
from rnshmc.types import Array

NUGGET = 1e-9


def potential(q: Array) -> tuple[Array, Array]:
    """Smooth, not quadratic, with its gradients: rows of q."""
    wave = np.cosh(0.4 * q) + 0.3 * np.roll(q, 1, axis=1) * q
    slope = 0.4 * np.sinh(0.4 * q) + 0.3 * (np.roll(q, 1, axis=1) + np.roll(q, -1, axis=1))
    return wave.sum(axis=1) + 40.0, slope


def fitted(dim: int, n: int, *, prior: float = 1.0) -> tuple[GradientKernel, Array]:
    q = stream(3, "gradient kernel", str(dim), str(n)).standard_normal((n, dim))
    u, g = potential(q)
    return GradientKernel.fit(q, u, rng=stream(4, "fit"), grad=g, prior=prior, nuggets=(NUGGET,)), q


@pytest.mark.parametrize(("dim", "n"), [(1, 6), (3, 20), (12, 13), (12, 60)])
@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_values_and_gradients_are_interpolated(dim: int, n: int, prior: float) -> None:
    """Up to the nugget: a row of K + nugget I misses its target by nugget times its weight."""
    surrogate, q = fitted(dim, n, prior=prior)
    u, g = potential(q)
    values, gradients = surrogate.values_and_gradients(q)
    alpha, beta = np.abs(surrogate.solution.alpha), np.abs(surrogate.solution.beta)
    rounding = 1e3 * np.finfo(float).eps * (alpha.sum() + beta.sum() + 100.0)
    np.testing.assert_allclose(values, u - u.min(), rtol=0, atol=2 * NUGGET * alpha.max() + rounding)
    tolerance = (2 * NUGGET * beta.max() + rounding) / surrogate.length_scale
    np.testing.assert_allclose(gradients, g, rtol=0, atol=tolerance)


def test_gradients_are_worth_points() -> None:
    """The same number of points without gradients predicts far worse."""
    surrogate, q = fitted(6, 30)
    u, _ = potential(q)
    blind = GradientKernel.fit(q, u, rng=stream(4, "fit"), grad=np.full(q.shape, np.nan), prior=1.0)
    fresh = stream(5, "fresh").standard_normal((200, 6))
    off, blind_off = (np.std(one.values_and_gradients(fresh)[0] - potential(fresh)[0]) for one in (surrogate, blind))
    assert off < 0.2 * blind_off


def test_a_missing_gradient_is_left_out() -> None:
    q = stream(3, "some").standard_normal((20, 3))
    u, g = potential(q)
    g[::2] = np.nan
    surrogate = GradientKernel.fit(q, u, rng=stream(4, "fit"), grad=g, nuggets=(NUGGET,))
    _, gradients = surrogate.values_and_gradients(q)
    assert np.abs(gradients[1::2] - g[1::2]).max() < 1e-4
    assert not surrogate.solution.beta[::2].any()


def test_gradient_and_mean_hessian_are_derivatives(assert_slope: Callable[..., None]) -> None:
    surrogate, _ = fitted(4, 15)
    rng = stream(6, "slopes")
    q, direction = rng.standard_normal((2, 4))
    error = 1e-15 * (np.abs(surrogate.solution.alpha).sum() + np.abs(surrogate.solution.beta).sum() + 100.0)

    def value(x: Array) -> float:
        return float(surrogate.values_and_gradients(x[None])[0][0])

    def gradient(x: Array) -> Array:
        return np.asarray(surrogate.values_and_gradients(x[None])[1][0])

    assert_slope(value, gradient(q) @ direction, q, direction, relative_error=error / abs(value(q)))
    hessian = surrogate.mean_hessian(q[None])
    relative = error / float(np.linalg.norm(gradient(q)))
    assert_slope(gradient, hessian @ direction, q, direction, relative_error=relative)


def test_mean_hessian_is_the_mean() -> None:
    surrogate, q = fitted(3, 10)
    each = np.mean([surrogate.mean_hessian(row[None]) for row in q], axis=0)
    np.testing.assert_allclose(surrogate.mean_hessian(q), each, rtol=0, atol=1e-8)


def test_far_away_it_is_the_prior() -> None:
    surrogate, _ = fitted(3, 10)
    far = np.array([[1e4, 0.0, 0.0]])
    assert surrogate.values_and_gradients(far)[0][0] == pytest.approx(0.5e8 + surrogate.solution.mean, rel=1e-12)


def test_points_that_coincide_cannot_be_fitted() -> None:
    """They have no scale for the length."""
    with pytest.raises(FitError, match="3 training points coincide"):
        GradientKernel.fit(np.ones((3, 2)), np.zeros(3), rng=stream(1, "coincide"), grad=np.zeros((3, 2)))


def test_what_has_errors_of_its_own_is_interpolated_up_to_these() -> None:
    """One value is wrong by 30: with an error to match, the others are as near as without that point, else not."""
    q = stream(3, "wrong").standard_normal((20, 3))
    u, g = potential(q)
    wrong, errors = u.copy(), np.zeros((20, 2))
    wrong[4] += 30.0
    g[4] = 0.0
    errors[4] = 300.0
    others, fresh = np.arange(20) != 4, stream(5, "fresh").standard_normal((50, 3))

    def off(rows: Array, errors: Array | None) -> float:
        found = GradientKernel.fit(
            q[rows], wrong[rows], rng=stream(4, "fit"), grad=g[rows], prior=1.0, nuggets=(NUGGET,), errors=errors
        )
        return float(np.std(found.values_and_gradients(fresh)[0] - potential(fresh)[0]))

    all_points = np.ones(20, dtype=bool)
    assert off(all_points, errors) < 3.0 * off(others, None)
    assert off(all_points, None) > 10.0 * off(others, None)


def test_a_point_with_a_large_error_leaves_as_much_open_as_none() -> None:
    q = stream(3, "kept").standard_normal((12, 2))
    u, g = potential(q)
    errors = np.zeros((12, 2))
    errors[0] = 1e6
    found = GradientKernel.fit(q, u, rng=stream(4, "fit"), grad=g, nuggets=(NUGGET,), errors=errors)
    length = found.length_scale / spread(q[1:])
    rest = GradientKernel.fit(q[1:], u[1:], rng=stream(4, "fit"), grad=g[1:], nuggets=(NUGGET,), lengths=(length,))
    own, without = (one.covariance(q[:1])[0, 0] / one.amplitude**2 for one in (found, rest))
    assert own == pytest.approx(without, rel=0.01)


@pytest.mark.parametrize(("factor", "systems"), [(None, 2), (1.0, 1), (1.4, 1), (4.0, 2)])
def test_errors_take_one_system_where_the_variance_is_known(
    factor: float | None, systems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known to half of itself; the solution is then that of errors relative to the known variance."""
    q = stream(3, "known").standard_normal((20, 3))
    u, g = potential(q)
    errors = np.full((20, 2), 1e-3)
    length = 3.0 * spread(q)
    settled = solve(q, u, g, length, NUGGET, errors).variance
    for _ in range(5):
        settled = solve(q, u, g, length, NUGGET, errors, settled).variance
    solved = list[Array]()
    factorise = gradient_conditioning.factorise

    def counted(*arguments: Any) -> Array:
        solved.append(arguments[-2])
        return factorise(*arguments)

    monkeypatch.setattr(gradient_conditioning, "factorise", counted)
    found = solve(q, u, g, length, NUGGET, errors, None if factor is None else factor * settled)
    assert len(solved) == systems
    assert found.variance == pytest.approx(settled, rel=0.5)
    np.testing.assert_array_equal(found.errors, solved[-1])


@pytest.mark.parametrize("noise", [0.0, 1e-2])
@pytest.mark.parametrize("frequency", [0.5, 1.0, 2.0, 4.0])
def test_the_search_finds_what_trying_all_candidates_finds(frequency: float, noise: float) -> None:
    """More points than the search begins with, and not too many to try all candidates on."""
    rng = stream(3, "search", str(frequency), str(noise))
    points = rng.standard_normal((250, 4))
    assert ROUGH_ROWS < points.size + len(points) < SEARCH_ROWS
    values = np.sin(frequency * points).sum(axis=1) + noise * rng.standard_normal(len(points))
    slopes = frequency * np.cos(frequency * points) + noise * rng.standard_normal(points.shape)
    none, lengths = np.zeros((250, 2)), [length * spread(points) for length in LENGTHS]

    def likelihood(length: float, nugget: float) -> float:
        try:
            return solve(points, values, slopes, length, nugget, none).log_likelihood
        except FitError:
            return -np.inf

    def best_length(nugget: float) -> float:
        return max(lengths, key=lambda length: likelihood(length, nugget))

    first = best_length(NUGGETS[0])
    nugget = max(NUGGETS, key=lambda nugget: likelihood(first, nugget))
    assert search(points, values, slopes, lengths, NUGGETS, np.inf, rng, none)[:2] == (best_length(nugget), nugget)
