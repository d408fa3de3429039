"""A bend: a bijection with an exact Jacobian, behind which all that is known is the same."""

from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.inference.result.findings import coordinate_names, warp_findings
from rnshmc.inference.transforms import make_transform
from rnshmc.inference.warp import STRAIGHT, Coordinates, Warp, WarpLayer
from rnshmc.types import Array
from tests.inference.conftest import archive_of
from tests.inference.problems import Correlated

EPS = float(np.finfo(np.float64).eps)


def some_layer(rng: np.random.Generator, driver: int, dim: int = 4) -> WarpLayer:
    shifts, scales = 0.5 * rng.standard_normal((3, dim)), 0.5 * rng.standard_normal((2, dim))
    shifts[:, driver] = scales[:, driver] = 0.0
    return WarpLayer(driver, 0.3, 1.7, shifts, scales, np.ones(dim))


@pytest.fixture
def bend() -> Warp:
    rng = np.random.default_rng(1)
    return Warp((some_layer(rng, 0), some_layer(rng, 2)))


@pytest.fixture
def coordinates(bend: Warp) -> Coordinates:
    bounds = [None, "positive", "unit", (None, 4.0)]
    return Coordinates(make_transform(bounds, list("abcd")), bend)


def test_coordinates_bring_parameters_back(coordinates: Coordinates) -> None:
    for y in np.random.default_rng(2).standard_normal((6, 4)):
        # Scales are within exp(4) and x within 100 here, where the inverse of the bounds loses up to exp(|x|).
        theta = coordinates.parameters(y)
        assert coordinates.transform.inside(theta[None])
        back = coordinates.parameters(coordinates.coordinates(theta))
        np.testing.assert_allclose(back, theta, rtol=1e5 * EPS, atol=1e5 * EPS)


def test_the_log_jacobian_of_a_bend_is_that_of_its_derivative(bend: Warp) -> None:
    """Against central differences, whose error is of order h^2 and eps / h: 1e-7 at h = 1e-5, with room for scales."""
    step = 1e-5
    for y in np.random.default_rng(3).standard_normal((5, 4)):
        ahead, back = (bend.forward(y + sign * step * np.eye(4)) for sign in (1.0, -1.0))
        determinant = np.linalg.slogdet((ahead - back) / (2.0 * step))
        assert determinant[0] == 1.0
        assert bend.log_jacobians(y[None])[0] == pytest.approx(determinant[1], abs=1e-5)


def test_the_gradient_is_that_of_the_density_behind_the_bend(
    coordinates: Coordinates, assert_slope: Callable[..., None]
) -> None:
    rng = np.random.default_rng(4)
    weights = rng.standard_normal(4)

    def log_density(y: Array) -> float:
        return float(np.sin(coordinates.parameters(y)) @ weights) + coordinates.log_jacobian(y)

    for y in rng.standard_normal((5, 4)):
        gradient = coordinates.pulled_back(np.cos(coordinates.parameters(y)) * weights, y)
        direction = rng.standard_normal(4)
        assert_slope(log_density, float(gradient @ direction), y, direction, relative_error=1e-13)


def test_an_archive_is_seen_behind_a_bend_with_all_that_it_has(bend: Warp) -> None:
    """Potentials and gradients of known points are those behind the bend, and come back as they were."""
    problem = Correlated(4)
    points = np.random.default_rng(10).standard_normal((5, 4))
    archive = archive_of(problem, points)
    before, spent = archive.training(), archive.spent
    bent = archive.seen(bend)
    behind = bent.training()
    np.testing.assert_allclose(bend.forward(behind.points), points, rtol=0, atol=1e3 * EPS)
    np.testing.assert_allclose(behind.values, before.values - bend.log_jacobians(behind.points), rtol=1e3 * EPS)
    bent.evaluate(behind.points, "test")
    assert bent.spent == spent
    after = bent.seen(STRAIGHT).training()
    for name in ("points", "values", "gradients"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=0, atol=1e4 * EPS)


def test_points_that_a_bend_moves_beyond_all_numbers_are_left_out_behind_it() -> None:
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    bend = Warp((WarpLayer(0, 0.0, 1.0, np.zeros((3, 6)), scales, np.ones(6)),))
    points = np.ones((3, 6))
    points[:, 0] = 1.0, -200.0, -5000.0
    archive = archive_of(Correlated(6), points)
    assert len(archive.seen(bend).training().points) == 2
    assert len(archive.seen(bend).seen(STRAIGHT).training().points) == 3


def test_the_verdict_tells_a_bend_in_the_names_of_the_user() -> None:
    scales, shifts = np.zeros((2, 4)), np.zeros((3, 4))
    scales[0, 1:3] = 1.5
    shifts[2, 3] = 7.0
    names = coordinate_names(["tau", "b1", "b2", "a"], make_transform(["positive", None, None, None], list("tbba")))
    sentences = [one.text for one in warp_findings(Warp((WarpLayer(0, 0.0, 3.0, shifts, scales, np.ones(4)),)), names)]
    assert sentences == ["b1 and b2 scale with exp(0.5 t), t = the log of tau.", "a curves along the log of tau."]


@pytest.mark.parametrize(("second", "sentences"), [(2.0, []), (1.0, ["b1 and b2 scale with exp(-0.5 t), t = tau."])])
def test_scales_by_two_layers_with_one_driver_are_told_as_one(second: float, sentences: list[str]) -> None:
    """Of effects that are not centred: a first layer with exp(-t), and one with exp(t) or exp(t / 2) after it."""
    scales = np.zeros((2, 3))
    scales[0, 1:] = 1.0
    pairs = ((-1.0, 1.0), (second, 2.0))
    layers = [WarpLayer(0, 0.0, width, np.zeros((3, 3)), slope * scales, np.ones(3)) for slope, width in pairs]
    assert [one.text for one in warp_findings(Warp(tuple(layers)), ["tau", "b1", "b2"])] == sentences
